/** Sets of questions and folders for calibration, as the command line names them. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Calibration } from '../engine/calibrate.ts'
import { parseQuestionSet, type SetItem } from '../engine/question-set.ts'
import { openFile } from '../host/node/file-source.ts'
import { EngineError } from '../shared/errors.ts'
import { findFile } from './pictures.ts'

/** Larger than any set of questions; pictures are files of their own. */
const MAX_SET_BYTES = 2 ** 28

const PICTURE_NAME = /\.(jpe?g|png|webp|gif|avif|tiff?)$/i

/** Asked about pictures that come without questions. */
const DEFAULT_ASK = 'Describe this picture.'

export interface QuestionFile extends Calibration {
  readonly items: readonly SetItem[]
  /** Path and size, which tell sets apart. */
  readonly name: string
}

/** The set that comes with the package: pictures that the tiny model knows. */
export function bundledSetPath(): string {
  return fileURLToPath(new URL('../../models/eval/tiny.jsonl', import.meta.url))
}

/** Reads a set and looks whether its pictures are there. */
export async function loadQuestionFile(path: string, needsAnswers: boolean): Promise<QuestionFile> {
  const source = await openFile(path)
  await source.close()
  if (source.byteLength > MAX_SET_BYTES) {
    throw new EngineError('config/bad-set', {
      message: `${path} has ${source.byteLength} bytes; sets of at most ${MAX_SET_BYTES} bytes are read.`,
      hint: 'A set has one JSON object a line and names pictures, it does not hold them.',
    })
  }
  const items = parseQuestionSet(await readFile(path, 'utf8'), path, needsAnswers)
  const folder = dirname(path)
  return withPictures(items, folder, `${path} (${source.byteLength} bytes)`)
}

/** A folder with one set of questions (`*.jsonl`), answers optional, or with nothing but pictures. */
export async function loadCalibrationFolder(path: string): Promise<QuestionFile> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) {
    throw new EngineError('option/calibrate', {
      message: `--calibrate ${path}: expected a folder of pictures and questions, found ${found ? 'a file' : 'nothing'}.`,
      hint: 'A folder holds pictures, and where questions are to go with them one .jsonl file.',
    })
  }
  const names = (await readdir(path)).sort()
  const sets = names.filter((name) => name.endsWith('.jsonl'))
  if (sets.length > 1) {
    throw new EngineError('option/calibrate', {
      message: `--calibrate ${path}: expected one .jsonl file, found ${sets.join(', ')}.`,
    })
  }
  const [set] = sets
  if (set !== undefined) return loadQuestionFile(join(path, set), false)
  const pictures = names.filter((name) => PICTURE_NAME.test(name))
  if (pictures.length === 0) {
    throw new EngineError('option/calibrate', {
      message: `--calibrate ${path}: expected pictures or one .jsonl file with questions, found neither.`,
    })
  }
  const items = pictures.map((name) => ({
    id: name,
    pictures: [name],
    turns: [{ ask: DEFAULT_ASK, answers: [] }],
  }))
  return withPictures(items, path, path)
}

async function withPictures(items: readonly SetItem[], folder: string, name: string): Promise<QuestionFile> {
  const resolvePicture = (picture: string): string => join(folder, picture)
  for (const { pictures } of items) for (const picture of pictures) await findFile(resolvePicture(picture))
  return { items, name, resolvePicture }
}
