// Runs the conformance suite as other processors would. How an engine multiplies int8 differs by processor
// (kernels/wasm/dot-kind.ts) and no machine shows all ways; here the dot of AVX-VNNI (unsigned) and of Arm or
// AVX-VNNI-INT8 (signed) is computed exactly with 16-bit words, and the kernels are told that they have it.
//
//   node scripts/check-dot-kinds.mjs
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const KINDS = { UNSIGNED: 'u', SIGNED: 's' }

/** @param {string} file @param {string} from @param {string} to */
function patch(file, from, to) {
  const path = `${root}kernels/wasm/${file}`
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no line "${from}"; this script must follow it.`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  return () => writeFileSync(path, text)
}

/** @param {string[]} args */
function run(...args) {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
}

try {
  for (const [kind, sign] of Object.entries(KINDS)) {
    const restore = [
      patch('dot-kind.ts', '= probeDotKind()', `= ASC_FEATURE_RELAXED_SIMD ? ${kind} : probeDotKind()`),
      patch(
        'products.ts',
        'return i32x4.relaxed_dot_i8x16_i7x16_add_s(x, w, sum)',
        `{
    const a = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(x), i16x8.extend_low_i8x16_${sign}(w))
    const b = i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(x), i16x8.extend_high_i8x16_${sign}(w))
    return i32x4.add(sum, i32x4.add(v128.shuffle<i32>(a, b, 0, 2, 4, 6), v128.shuffle<i32>(a, b, 1, 3, 5, 7)))
  }`,
      ),
    ]
    try {
      run('scripts/build-kernels.mjs')
    } finally {
      for (const undo of restore) undo()
    }
    console.log(`\nConformance with the dot of kind ${kind}`)
    run('node_modules/vitest/vitest.mjs', 'run', 'src/backend/wasm/wasm-backend.test.ts', '-t', 'relaxed')
  }
} finally {
  run('scripts/build-kernels.mjs')
}
