import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { runFake } from './fake-context.case.ts'
import { ProgressLine, type ProgressMode } from './progress-line.ts'

function play(
  mode: ProgressMode,
  columns: number,
  steps: (line: ProgressLine, clock: { now: number }) => void,
): string {
  const stream = Object.assign(new PassThrough(), { columns })
  const clock = { now: 0 }
  steps(new ProgressLine(stream, mode, () => clock.now), clock)
  return String(stream.read() ?? '')
}

describe('ProgressLine', () => {
  it('draws over itself, not too often', () => {
    const drawn = play('redraw', 80, (line, clock) => {
      line.show('Loading', 0, 8)
      line.show('Loading', 1, 8)
      clock.now = 60
      line.show('Loading', 4, 8)
      line.show('Loading', 8, 8)
      line.clear()
      line.clear()
    })
    expect(drawn.split('\r\u001b[K')).toEqual([
      '',
      'Loading [------------------------]   0%',
      'Loading [############------------]  50%',
      'Loading [########################] 100%',
      '',
    ])
  })

  it('fits narrow terminals', () => {
    expect(play('redraw', 40, (line) => line.show('Loading', 1, 8))).toBe('\r\u001b[KLoading  12%')
  })

  it('keeps its share between nothing and everything', () => {
    expect(play('redraw', 40, (line) => line.show('a', 1, 0))).toBe('\r\u001b[Ka   0%')
    expect(play('redraw', 40, (line) => line.show('a', 3, 2))).toBe('\r\u001b[Ka 100%')
  })

  it('says once what begins where nothing may be redrawn', () => {
    const said = play('lines', 80, (line) => {
      line.show('Loading', 0, 8)
      line.show('Loading', 8, 8)
      line.clear()
      line.show('Reading', 1, 2)
    })
    expect(said).toBe('Loading …\nReading …\n')
  })

  it('adds a detail where it fits, without the bar if need be', () => {
    const show = (columns: number): string =>
      play('redraw', columns, (line) => line.show('Fetching', 1, 2, '5.00 MB/s, 3 min left')).slice(4)
    expect(show(80)).toBe('Fetching [############------------]  50%  5.00 MB/s, 3 min left')
    expect(show(40)).toBe('Fetching  50%  5.00 MB/s, 3 min left')
    expect(show(30)).toBe('Fetching  50%')
  })

  it('can be off', () => {
    expect(play('off', 80, (line) => line.show('Loading', 0, 8))).toBe('')
  })
})

describe('progress of a command', () => {
  const args = ['describe', import.meta.filename, '--model', 'm', '--no-color']
  const saw = `${import.meta.filename}: 640x480, seen at 512x384 in 4 tiles, detail high\n`

  it('shows at a terminal', async () => {
    const { stderr, stdout } = await runFake(args, { isTerminal: true, columns: 40 })
    expect(stderr.replaceAll('\r\u001b[K', '|')).toBe(
      `|Loading the model  50%|Loading the model 100%||Looking at the picture  50%|${saw}|Reading the question 100%|`,
    )
    expect(stdout).toBe('A fox.\n')
  })

  it.each([
    [['--plain'], {}],
    [[], { TERM: 'dumb' }],
  ])('is plain with %j and %j', async (more, env) => {
    const { stderr } = await runFake([...args, ...more], { isTerminal: true, env })
    expect(stderr).toBe(`Loading the model …\nLooking at the picture …\n${saw}Reading the question …\n`)
  })

  it('does not show in files or with --quiet', async () => {
    expect((await runFake(args)).stderr).toBe('')
    expect((await runFake([...args, '--quiet'], { isTerminal: true })).stderr).toBe('')
  })
})
