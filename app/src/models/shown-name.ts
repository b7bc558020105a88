/** What a model is called on the screen. */
const NAMES: Readonly<Record<string, string>> = { tiny: 'Onsight tiny' }

export const shownName = (name: string): string => NAMES[name] ?? name
