/** Below this a frame is silence, and stays small instead of becoming noise. */
const EPSILON = 1e-6

/** Frames of sound made equally loud and compressed: asinh(slope * (x - mean) / deviation). Samples that fill no frame are left out. */
export function normalizeFrames(samples: Float32Array, frameSamples: number, slope: number): Float32Array {
  const out = new Float32Array(samples.length - (samples.length % frameSamples))
  for (let start = 0; start < out.length; start += frameSamples) {
    const frame = samples.subarray(start, start + frameSamples)
    const mean = frame.reduce((sum, value) => sum + value, 0) / frameSamples
    const square = frame.reduce((sum, value) => sum + (value - mean) ** 2, 0) / frameSamples
    const deviation = Math.sqrt(square + EPSILON)
    for (const [index, value] of frame.entries()) {
      out[start + index] = Math.asinh((slope * (value - mean)) / deviation)
    }
  }
  return out
}
