import { mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeHub } from '../../test/support/fake-hub.ts'
import { normal, SpoilableModel } from '../../test/support/spoil-model.ts'
import { useTemporaryFolders } from '../../test/support/temporary-folders.ts'
import type { Inspection } from '../inspect/inspect-model.ts'
import { runFake } from './fake-context.case.ts'

const folders = useTemporaryFolders()

function untrained(): SpoilableModel {
  const model = new SpoilableModel()
  model.fill(/connector/, normal(0.02))
  return model
}

describe('onsight inspect', () => {
  it('prints facts and a verdict of a sound model', async () => {
    const folder = folders.create({
      ...new SpoilableModel().files(),
      'README.md': '---\nlicense: mit\nlanguage:\n- en\n---\n',
    })
    const { exitCode, stdout, stderr } = await runFake(['inspect', folder, '--context', '512'])
    expect(stderr).toBe('')
    expect(stdout).toBe(`${folder}: idefics3, safetensors

parameters     3.4M
  vision       1.1M
  projector    196.6k
  embedding    524.3k
  layers       1.6M
  head         256
types          F16 6.76 MB (58)
decoder        2 layers of 256, 4 heads (2 for keys and values), 2048 tokens, context 2048
pictures       frames of 256 x 256 pixels, 64 tokens each; up to 1 frame (64 tokens) a picture
memory         7.29 MB: weights 6.76 MB, 524 kB for 512 tokens
chat template  chat_template.json: chat_template
licence        mit
languages      en
read           6.76 MB of 6.76 MB of weights

No fault was found.
`)
    expect(exitCode).toBe(0)
  })

  it('exits with 1 and says what is wrong', async () => {
    const folder = folders.create(untrained().files())
    const { exitCode, stdout } = await runFake(['inspect', folder])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(
      /^error weights\/untrained-projector\n {2}The projector was never trained: 1 of 1/m,
    )
    expect(stdout).toMatch(/\nFound: 1 error, 0 warnings\.\n$/)
  })

  it('--json prints one object with evidence', async () => {
    const folder = folders.create(untrained().files())
    const { exitCode, stdout } = await runFake(['inspect', folder, '--json'])
    const { ok, model, findings } = JSON.parse(stdout) as Inspection
    expect(exitCode).toBe(1)
    expect(ok).toBe(false)
    expect(model.parameters.projector).toBe(196_608)
    expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
      ['weights/untrained-projector', 'error'],
    ])
    const [tensor] = findings[0]!.evidence['tensors'] as [{ looks: string; z: number; edge: number }]
    expect(findings[0]!.evidence).toMatchObject({
      matrices: 1,
      untrained: 1,
      shareThreshold: 0.5,
      zThreshold: 6,
    })
    expect(tensor.looks).toBe('random')
    expect(tensor.z).toBeLessThan(6)
    expect(tensor.edge).toBeCloseTo(1, 1)
  })

  it('a missing model is no finding but an error', async () => {
    const { exitCode, stderr } = await runFake(['inspect', '/nowhere/at/all'])
    expect(exitCode).toBe(4)
    expect(stderr).toMatch(/There is no model at \/nowhere\/at\/all/)
  })

  it('speaks Chinese', async () => {
    const folder = folders.create(new SpoilableModel().files())
    const { stdout } = await runFake(['inspect', folder, '--no-weights'], { env: { LANG: 'zh_CN.UTF-8' } })
    expect(stdout).toMatch(/没有发现问题。\n$/)
  })
})

describe('onsight inspect owner/name', () => {
  let fake: FakeHub
  let env: Record<string, string>
  beforeEach(async () => {
    fake = await FakeHub.start()
    const home = folders.create({})
    mkdirSync(home, { recursive: true })
    env = { ONSIGHT_HOME: home, HF_ENDPOINT: fake.endpoint, HF_TOKEN_PATH: '/nowhere', HOME: home }
  })
  afterEach(() => fake.stop())

  it('finds an untrained projector without fetching the model', async () => {
    const id = 'someone/Tiny'
    const padding = { shape: [4096, 4096], data: new Float32Array(4096 * 4096).fill(1) }
    const model = untrained()
    model.tensors.set('padding', padding)
    fake.setRepository(id, { files: { ...model.files(), 'README.md': '---\nlicense: mit\n---\n' } })
    const { exitCode, stdout } = await runFake(['inspect', id, '--json'], { env })
    const { model: report, findings } = JSON.parse(stdout) as Inspection
    expect(findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)).toEqual([
      'weights/untrained-projector',
    ])
    expect(exitCode).toBe(1)
    expect(report.licence).toBe('mit')
    expect(report.read.whole).toBe(false)
    // 40 MB of weights, of which most are never asked for.
    expect(fake.sentBytesOf('model.safetensors')).toBeLessThan(report.read.ofBytes / 2)
    expect(fake.rangesOf('model.safetensors')).not.toContain(undefined)
  })

  it('reads headers and small files only with --no-weights', async () => {
    const id = 'someone/Tiny-3M'
    fake.setRepository(id, { files: new SpoilableModel().files() })
    const { exitCode } = await runFake(['inspect', id, '--no-weights'], { env })
    expect(exitCode).toBe(0)
    expect(fake.sentBytesOf('model.safetensors')).toBe(2 ** 20)
  })
})
