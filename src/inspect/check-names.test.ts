import { describe, expect, it } from 'vitest'
import { checkNames, type NamedContents } from './check-names.ts'
import { Findings } from './finding.ts'

const SOUND: NamedContents = {
  names: [],
  parameters: 500e6,
  hasVision: true,
  isTextHalf: false,
  hasImageToken: true,
  hasChatTemplate: true,
  isIncomplete: false,
}

function codesOf(contents: Partial<NamedContents>): string[] {
  const findings = new Findings()
  checkNames({ ...SOUND, ...contents }, findings)
  return findings.list().map(({ code }) => code)
}

describe('checkNames', () => {
  it.each([
    ['SmolVLM-500M-Instruct', 507e6],
    ['SmolVLM-256M-Instruct', 256.5e6],
    ['SmolVLM2-2.2B-Instruct', 2.246e9],
    ['Llama-3.2-1B', 1.236e9],
    ['Qwen2.5-0.5B-Instruct', 494e6],
    ['Qwen3-0.6B', 596e6],
    ['gemma-7b', 8.54e9],
    ['SmolLM2-360M-8k-lc100k', 362e6],
    ['Mixtral-8x7B-v0.1', 46.7e9],
    ['Qwen3-30B-A3B', 30.5e9],
    ['smollm-corpus-100B-tokens-135M', 135e6],
    ['model-q4_0', 1e6],
    ['stories15M', 15e6],
  ])('%s has %d parameters: nothing to say', (name, parameters) => {
    expect(codesOf({ names: [name], parameters })).toEqual([])
  })

  it.each([
    ['SmolVLM-500M', 135e6],
    ['Great-7B', 500e6],
    ['Tiny 2.2B', 507e6],
  ])('%s has %d parameters: claims a size', (name, parameters) => {
    expect(codesOf({ names: [name], parameters })).toEqual(['name/claims-size'])
  })

  it('the text half of a pair has fewer parameters than its name', () => {
    expect(
      codesOf({ names: ['SmolVLM-256M'], parameters: 163e6, isTextHalf: true, hasVision: false }),
    ).toEqual(['model/no-projector'])
  })

  it.each(['Qwen2.5-VL-3B', 'llava-1.5', 'SmolVLM2', 'My-Vision', 'foo_vlm'])('%s claims vision', (name) => {
    expect(codesOf({ names: [name], hasVision: false, hasImageToken: false, parameters: 3e9 })).toContain(
      'name/claims-vision',
    )
  })

  it.each(['television', 'Devlin', 'revisions', 'Llama-3'])('%s does not', (name) => {
    expect(codesOf({ names: [name], hasVision: false, hasImageToken: false })).toEqual([])
  })

  it.each(['SmolLM2-Instruct', 'gemma-3-it', 'Qwen-Chat', 'llama_instruct_v2'])(
    '%s claims instructions',
    (name) => {
      expect(codesOf({ names: [name], hasChatTemplate: false })).toEqual(['name/claims-instruct'])
    },
  )

  it.each(['SmolLM2-base', 'literature', 'chatter'])('%s claims none', (name) => {
    expect(codesOf({ names: [name], hasChatTemplate: false })).toEqual([])
  })

  it('says nothing about what could not be read', () => {
    expect(
      codesOf({
        names: ['Vision-Instruct-7B'],
        hasVision: false,
        hasChatTemplate: false,
        isIncomplete: true,
      }),
    ).toEqual([])
  })
})
