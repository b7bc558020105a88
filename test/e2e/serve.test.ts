import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readTinyCase, runOnsight } from './run-onsight.ts'

/** Resolves with the first line of standard output. */
function firstLine(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const onData = (chunk: Buffer): void => {
      text += chunk
      if (!text.includes('\n')) return
      child.stdout.off('data', onData)
      resolve(text.split('\n', 1)[0]!)
    }
    child.stdout.on('data', onData)
  })
}

const ask = (url: string, body: object) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
    body: JSON.stringify(body),
  })

describe('onsight serve', () => {
  it('answers about a picture, logs no words, and finishes what runs when it is terminated', async () => {
    const { picture, turns } = readTinyCase('000')
    const [turn] = turns
    const url = `data:image/png;base64,${readFileSync(picture).toString('base64')}`
    const content = [
      { type: 'text', text: turn!.ask },
      { type: 'image_url', image_url: { url } },
    ]
    let answers: unknown[] = []
    const { exitCode, stdout } = await runOnsight(['serve', '--port', '0', '--json'], {
      env: { ONSIGHT_API_KEY: 'secret' },
      during: async (child) => {
        const { url } = JSON.parse(await firstLine(child)) as { url: string }
        const messages = [{ role: 'user', content }]
        const first = await (await ask(url, { messages })).json()
        const running = await ask(url, { messages, stream: true })
        child.kill('SIGTERM')
        answers = [first, await running.text()]
      },
    })
    expect(exitCode).toBe(143)
    expect(answers[0]).toMatchObject({ choices: [{ message: { content: turn!.says } }] })
    expect(answers[1]).toMatch(/data: \[DONE\]\n\n$/)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { event: 'listening', model: 'tiny', needsKey: true },
      {
        event: 'request',
        route: '/v1/chat/completions',
        status: 200,
        completionTokens: turn!.tokenIds.length,
      },
      { event: 'request', route: '/v1/chat/completions', status: 200 },
    ])
    expect(stdout).not.toContain(turn!.says)
  })

  it('says which program has the port', async () => {
    let second: unknown
    const first = await runOnsight(['serve', '--port', '0', '--json'], {
      during: async (child) => {
        const { url } = JSON.parse(await firstLine(child)) as { url: string }
        const { port } = new URL(url)
        second = await runOnsight(['serve', '--port', port])
        child.kill('SIGINT')
      },
    })
    expect(second).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/Cannot listen on 127\.0\.0\.1, port \d+: another program has it\./),
    })
    expect(first.exitCode).toBe(130)
  })
})
