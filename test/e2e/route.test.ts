import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../../src/entry/server.ts'
import { createFakeModel } from '../../src/testing/fake-model.ts'
import { readTinyCase, runOnsight } from './run-onsight.ts'

let server: RunningServer
const far = createFakeModel()
beforeAll(async () => {
  server = await startServer({ port: 0, models: { far }, apiKey: 'key-1' })
})
afterAll(() => server.stop())

const { picture, turns } = readTinyCase('000')
const env = () => ({
  ONSIGHT_REMOTE_URL: `${server.url}/v1`,
  ONSIGHT_REMOTE_MODEL: 'far',
  ONSIGHT_REMOTE_KEY: 'key-1',
})
const describePicture = (...args: string[]) =>
  runOnsight(['describe', picture, '--ask', turns[0]!.ask, ...args], { env: env() })

describe('onsight describe --route', () => {
  it('asks the endpoint where that was chosen, and says so', async () => {
    const { exitCode, stdout, stderr } = await describePicture('--route', 'remote')
    expect([exitCode, stdout]).toEqual([0, 'A fox.\n'])
    expect(stderr).toContain(
      `This message goes to far at ${new URL(server.url).host}: you chose the remote model.`,
    )
  })

  it('says in JSON who answered', async () => {
    const { stdout } = await describePicture('--route', 'remote', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      text: 'A fox.',
      answeredBy: { route: 'remote', model: 'far', host: new URL(server.url).host },
    })
  })

  it('sends nothing by default, nor with auto where this machine can answer', async () => {
    const before = far.questions.length
    for (const args of [[], ['--route', 'auto', '--allow-remote']]) {
      expect((await describePicture(...args)).stdout).toBe(`${turns[0]!.says}\n`)
    }
    expect(far.questions.length).toBe(before)
  })

  it('wants an endpoint, and tells what it answers', async () => {
    const nowhere = await runOnsight(['describe', picture, '--route', 'remote'])
    expect(nowhere.exitCode).toBe(2)
    expect(nowhere.stderr).toContain('--route remote needs an endpoint')
    const wrongKey = await runOnsight(['describe', picture, '--route', 'remote'], {
      env: { ...env(), ONSIGHT_REMOTE_KEY: 'other' },
    })
    expect(wrongKey.exitCode).toBe(1)
    expect(wrongKey.stderr).toContain('status 401')
  })
})
