/** Names in the origin private file system. Apps that were installed long ago have files by these names. */
export const MODELS = 'models'
export const DOWNLOADS = 'downloads'
export const FILES = 'files'
export const MANIFEST = 'onsight-model.json'
export const JOURNAL = 'journal.json'
export const COMMIT = 'commit.json'
