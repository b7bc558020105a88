/** `onsight bench` in Node: the measurements, with the machine they were made on and the memory they took. */
import { arch, cpus, platform } from 'node:os'
import { type BenchRequest, measureModel } from '../engine/bench.ts'
import { createImageDecoder } from '../host/node/image-decoder.ts'
import { createNodeWorkerHost } from '../host/node/worker-host.ts'
import { createFileHost } from './file-host.node.ts'

export interface BenchReport {
  readonly numbers: Readonly<Record<string, number>>
  readonly environment: Readonly<Record<string, string | number>>
}

export async function runBench(
  subject: string | { readonly shape: string },
  request: BenchRequest,
): Promise<BenchReport> {
  const host = { workers: createNodeWorkerHost(), files: createFileHost(), images: createImageDecoder() }
  const { numbers, backend, threads } = await measureModel(host, subject, request)
  return {
    numbers: { ...numbers, peakResidentMegabytes: process.resourceUsage().maxRSS / 1e3 },
    environment: {
      subject: typeof subject === 'string' ? subject : subject.shape,
      machine: `${cpus()[0]?.model.trim() ?? 'unknown'} (${cpus().length} cores, ${platform()} ${arch()})`,
      node: process.version,
      backend,
      threads,
    },
  }
}
