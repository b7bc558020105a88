/** What a memory limit leads to, in lines for people. */
import type { MemoryPlan } from '../engine/types.ts'
import type { Messages } from './messages.ts'
import { formatBytes } from './quantities.ts'

export function linesOfPlan(
  { parts, totalBytes, limitBytes, kv, contextLength, imageTokens }: MemoryPlan,
  messages: Messages,
): string[] {
  const sizes = parts.map(({ bytes }) => formatBytes(bytes))
  const width = Math.max(...sizes.map((size) => size.length))
  return [
    messages.memoryPlanned(formatBytes(totalBytes), formatBytes(limitBytes)),
    ...parts.map(
      ({ use }, index) => `  ${(sizes[index] as string).padStart(width)}  ${messages.memoryUses[use]}`,
    ),
    messages.memorySettings(contextLength, kv, imageTokens),
  ]
}
