/**
 * How English words sound that no dictionary has: a GRU reads the letters, another one says the sounds.
 * Source of the weights: Kyubyong/g2p (g2p-en 2.1.0, Apache-2.0).
 */
import { loadSafetensors } from '../../../formats/safetensors/load-safetensors.ts'
import { decodeBlocks } from '../../../quant/decode.ts'
import { type ByteSource, readBytes } from '../../../shared/byte-source.ts'
import { EngineError } from '../../../shared/errors.ts'

/** Sounds of a word in the CMU dictionary's alphabet, separated by spaces. */
export type GuessSounds = (word: string) => string

const UNITS = 256
const GATES = 3 * UNITS
/** Longest answer of the network, as it was trained. */
const MAX_SOUNDS = 20
/** Longer "words" are no words, and would only take time. */
const MAX_LETTERS = 40

const UNKNOWN_LETTER = 1
const END_OF_WORD = 2
const FIRST_LETTER = 3
const BEGIN = 2
const END = 3
const SOUNDS =
  '<pad> <unk> <s> </s> AA0 AA1 AA2 AE0 AE1 AE2 AH0 AH1 AH2 AO0 AO1 AO2 AW0 AW1 AW2 AY0 AY1 AY2 B CH D DH EH0 EH1 EH2 ER0 ER1 ER2 EY0 EY1 EY2 F G HH IH0 IH1 IH2 IY0 IY1 IY2 JH K L M N NG OW0 OW1 OW2 OY0 OY1 OY2 P R S SH T TH UH0 UH1 UH2 UW UW0 UW1 UW2 V W Y Z ZH'.split(
    ' ',
  )

interface Gru {
  readonly embedding: Float32Array // (symbols, units)
  readonly inputs: Float32Array // (3 units, units): reset, update, new
  readonly states: Float32Array // (3 units, units)
  readonly inputBias: Float32Array
  readonly stateBias: Float32Array
}

/** The source stays open and belongs to the caller. Throws `format/…`, `model/…` for other files. */
export async function loadLetterNetwork(source: ByteSource): Promise<GuessSounds> {
  const tensors = await loadSafetensors(source)
  const read = async (name: string, elements: number): Promise<Float32Array> => {
    const info = tensors.get(name)
    const found = info?.shape.reduce((product, size) => product * size, 1)
    if (!info || found !== elements) {
      throw new EngineError('model/missing-tensor', {
        message: `${source.name}: expected "${name}" with ${elements} elements; found ${found ?? 'none'}.`,
        hint: 'Use the file that comes with the package.',
      })
    }
    const values = new Float32Array(elements)
    decodeBlocks(info.type, await readBytes(source, info.byteOffset, info.byteLength), values)
    return values
  }
  const readGru = async (side: string, symbols: number): Promise<Gru> => ({
    embedding: await read(`${side}_emb`, symbols * UNITS),
    inputs: await read(`${side}_w_ih`, GATES * UNITS),
    states: await read(`${side}_w_hh`, GATES * UNITS),
    inputBias: await read(`${side}_b_ih`, GATES),
    stateBias: await read(`${side}_b_hh`, GATES),
  })
  const reader = await readGru('enc', FIRST_LETTER + 26)
  const speaker = await readGru('dec', SOUNDS.length)
  const output = await read('fc_w', SOUNDS.length * UNITS)
  const outputBias = await read('fc_b', SOUNDS.length)
  return (word) => {
    let state: Float32Array = new Float32Array(UNITS)
    for (const letter of word.toLowerCase().slice(0, MAX_LETTERS))
      state = step(reader, letterId(letter), state)
    state = step(reader, END_OF_WORD, state)
    const sounds: string[] = []
    for (let last = BEGIN; sounds.length < MAX_SOUNDS; ) {
      state = step(speaker, last, state)
      last = likeliest(multiply(output, state, outputBias))
      if (last === END) break
      sounds.push(SOUNDS[last] as string)
    }
    return sounds.join(' ')
  }
}

function letterId(letter: string): number {
  return letter >= 'a' && letter <= 'z' ? FIRST_LETTER + letter.charCodeAt(0) - 97 : UNKNOWN_LETTER
}

/** One step of a gated recurrent unit, as PyTorch computes it. */
function step(gru: Gru, symbol: number, state: Float32Array): Float32Array {
  const input = gru.embedding.subarray(symbol * UNITS, (symbol + 1) * UNITS)
  const fromInput = multiply(gru.inputs, input, gru.inputBias)
  const fromState = multiply(gru.states, state, gru.stateBias)
  const at = (values: Float32Array, index: number): number => values[index] as number
  return state.map((value, unit) => {
    const reset = sigmoid(at(fromInput, unit) + at(fromState, unit))
    const update = sigmoid(at(fromInput, UNITS + unit) + at(fromState, UNITS + unit))
    const fresh = Math.tanh(at(fromInput, 2 * UNITS + unit) + reset * at(fromState, 2 * UNITS + unit))
    return (1 - update) * fresh + update * value
  })
}

function multiply(matrix: Float32Array, vector: Float32Array, bias: Float32Array): Float32Array {
  return bias.map((start, row) => {
    let sum = start
    for (let column = 0; column < UNITS; column++) {
      sum += (matrix[row * UNITS + column] as number) * (vector[column] as number)
    }
    return sum
  })
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x))
}

function likeliest(values: Float32Array): number {
  return values.indexOf(Math.max(...values))
}
