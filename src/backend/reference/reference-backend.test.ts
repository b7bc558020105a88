import { runConformance } from '../conformance.case.ts'
import { createReferenceBackend } from './reference-backend.ts'

runConformance('reference', async () => createReferenceBackend())
