/**
 * Groups of files that import each other, directly or through others. Each is given as one round trip: the first file
 * stands again at the end.
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {string[][]}
 */
export function findCycles(graph) {
  /** @type {string[][]} */
  const cycles = []
  /** @type {Set<string>} */
  const reported = new Set()
  for (const start of graph.keys()) {
    if (reported.has(start)) continue
    const trip = roundTrip(graph, start)
    if (!trip) continue
    for (const file of trip) reported.add(file)
    cycles.push(trip)
  }
  return cycles
}

/** The shortest way from a file back to itself. @param {ReadonlyMap<string, readonly string[]>} graph @param {string} start */
function roundTrip(graph, start) {
  /** @type {Map<string, string>} */
  const cameFrom = new Map()
  const queue = [start]
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) {
        const trip = [start]
        for (let at = file; at !== start; at = cameFrom.get(at) ?? start) trip.unshift(at)
        return [start, ...trip]
      }
      if (cameFrom.has(next) || !graph.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return undefined
}
