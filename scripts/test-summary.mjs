// Prints what the tests came to, as the last line of a run: "N passed, N failed". Skipped tests are named before it.
import { readFileSync } from 'node:fs'

const [report = '', status = '1'] = process.argv.slice(2)
const text = readFileSync(report, 'utf8')
if (text === '') {
  console.log('The tests did not start: the build or a check failed above.')
  console.log('0 passed, 1 failed')
  process.exit(1)
}

/** @type {{ testResults: { name: string, status: string, assertionResults: { status: string, fullName: string }[] }[] }} */
const { testResults } = JSON.parse(text)
const results = testResults.flatMap(({ assertionResults }) => assertionResults)
const count = (/** @type {string} */ wanted) => results.filter((result) => result.status === wanted).length
// A file that fails before its first test has no results of its own.
const brokenFiles = testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((result) => result.status === 'failed'),
)
for (const { status: state, fullName } of results) {
  if (state !== 'passed' && state !== 'failed') console.log(`not run (${state}): ${fullName}`)
}
for (const { name } of brokenFiles) console.log(`did not load: ${name}`)
console.log(`${count('passed')} passed, ${count('failed') + brokenFiles.length} failed`)
process.exit(Number(status))
