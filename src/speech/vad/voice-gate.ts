import { SileroVad } from '../../models/silero/silero.ts'
import { loadSileroWeights } from '../../models/silero/weights.ts'
import { createMemorySource } from '../../shared/memory-source.ts'
import type { GateCounters, GateEvent, VoiceGate } from '../types.ts'
import { GATE_STEP } from './gate-features.ts'
import { LevelCheck, type LevelSettings } from './level-check.ts'
import { loadSmallNetWeights, SmallNet } from './small-net.ts'
import { type SegmenterSettings, SpeechSegmenter } from './speech-segmenter.ts'
import { StepHistory } from './step-history.ts'

/*
 * Three stages, each of which wakes the next: a level check, a small network, a large one that says where speech begins
 * and ends. A stage that wakes hears the last half second first, so that nothing is lost while it slept.
 */

export interface VoiceGateOptions extends LevelSettings, SegmenterSettings {
  /** Probability at which the small network wakes the large one. Default 0.3. */
  readonly wakeThreshold?: number
}

/** Steps that a network hears again when it wakes: 512 ms. Speech begins at most so long before its event, and 96 ms. */
const REPLAYED_STEPS = 16
/** The small network's first words mean nothing: its running floors have to settle. */
const WARM_UP_STEPS = 8
/** Steps that a stage stays awake after the last sign: pauses within a sentence. */
const SMALL_NET_STAYS = 16
const LARGE_NET_STAYS = 10

/**
 * A gate over samples of 16 kHz. `at` and `start` are where speech begins, to 32 ms; who wants the first syllable keeps
 * what came before (600 ms are a good measure). The weights are part of the package and are loaded on first use.
 *
 * @example
 * const gate = await createVoiceGate()
 * for (const event of gate.push(samples)) if (event.type === 'speech-started') …
 */
export async function createVoiceGate(options: VoiceGateOptions = {}): Promise<VoiceGate> {
  const [small, large] = await Promise.all([
    import('./generated/voice-gate-weights.ts').then(({ WEIGHTS }) =>
      loadSmallNetWeights(createMemorySource('voice-gate.safetensors', decodeBase64(WEIGHTS))),
    ),
    import('./generated/silero-vad-weights.ts').then(({ WEIGHTS }) =>
      loadSileroWeights(createMemorySource('silero-vad.safetensors', decodeBase64(WEIGHTS))),
    ),
  ])
  return new CascadedGate(new SmallNet(small), new SileroVad(large), options)
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

/** What a stage of networks is to the gate. */
export interface StepNet {
  run(samples: Float32Array): number
  reset(): void
}

/** Runs a network over every step that it has not heard, or over the last ones when it slept for long. */
class Listener {
  readonly #net: StepNet
  readonly #history: StepHistory
  /** The step that it hears next. */
  #next = 0
  /** Steps since it began anew. */
  #heard = 0
  runs = 0

  constructor(net: StepNet, history: StepHistory) {
    this.#net = net
    this.#history = history
  }

  /** Probabilities of the steps up to the newest, with the number of steps that the network had heard before. */
  *catchUp(): Generator<{ step: number; probability: number; heardBefore: number }> {
    const oldest = Math.max(0, this.#history.count - REPLAYED_STEPS)
    if (this.#next < oldest) {
      this.#net.reset()
      this.#heard = 0
      this.#next = oldest
    }
    while (this.#next < this.#history.count) {
      const step = this.#next++
      this.runs++
      const probability = this.#net.run(this.#history.step(step))
      yield { step, probability, heardBefore: this.#heard++ }
    }
  }

  reset(): void {
    this.#net.reset()
    this.#next = 0
    this.#heard = 0
  }
}

/** The gate over any two networks. */
export class CascadedGate implements VoiceGate {
  readonly #level: LevelCheck
  readonly #history = new StepHistory(GATE_STEP, REPLAYED_STEPS)
  readonly #small: Listener
  readonly #large: Listener
  readonly #segmenter: SpeechSegmenter
  readonly #wakeThreshold: number
  readonly #pending = new Float32Array(GATE_STEP)
  #pendingCount = 0
  #levelFrames = 0
  /** Steps up to which the networks are awake. */
  #smallUntil = -1
  #largeUntil = -1

  constructor(small: StepNet, large: StepNet, { wakeThreshold = 0.3, ...options }: VoiceGateOptions = {}) {
    this.#level = new LevelCheck(options)
    this.#small = new Listener(small, this.#history)
    this.#large = new Listener(large, this.#history)
    this.#segmenter = new SpeechSegmenter(options)
    this.#wakeThreshold = wakeThreshold
  }

  get counters(): GateCounters {
    return { levelFrames: this.#levelFrames, smallNetRuns: this.#small.runs, largeNetRuns: this.#large.runs }
  }

  push(samples: Float32Array): readonly GateEvent[] {
    const events: GateEvent[] = []
    for (let at = 0; at < samples.length; ) {
      const part = samples.subarray(at, at + GATE_STEP - this.#pendingCount)
      this.#pending.set(part, this.#pendingCount)
      this.#pendingCount += part.length
      at += part.length
      if (this.#pendingCount < GATE_STEP) break
      this.#pendingCount = 0
      this.#step(this.#pending, events)
    }
    return events
  }

  finish(): readonly GateEvent[] {
    const event = this.#segmenter.finish(this.#history.count * GATE_STEP + this.#pendingCount)
    return event ? [event] : []
  }

  reset(): void {
    this.#level.reset()
    this.#history.reset()
    this.#small.reset()
    this.#large.reset()
    this.#segmenter.reset()
    this.#pendingCount = 0
    this.#smallUntil = -1
    this.#largeUntil = -1
  }

  #step(samples: Float32Array, events: GateEvent[]): void {
    const now = this.#history.count
    this.#history.add(samples)
    this.#levelFrames++
    if (this.#level.hear(samples)) this.#smallUntil = now + SMALL_NET_STAYS
    if (now <= this.#smallUntil) this.#askSmallNet()
    if (now <= this.#largeUntil || this.#segmenter.isOpen) this.#askLargeNet(events)
  }

  #askSmallNet(): void {
    for (const { step, probability, heardBefore } of this.#small.catchUp()) {
      if (probability > this.#wakeThreshold && (heardBefore >= WARM_UP_STEPS || step < WARM_UP_STEPS)) {
        this.#largeUntil = step + LARGE_NET_STAYS
      }
    }
  }

  #askLargeNet(events: GateEvent[]): void {
    for (const { step, probability } of this.#large.catchUp()) {
      const event = this.#segmenter.push(probability, step * GATE_STEP, (step + 1) * GATE_STEP)
      if (event) events.push(event)
    }
  }
}
