/** Errors as they cross between the page and the worker: classes do not. */
import { EngineError, type ErrorCode } from 'onsight'

export interface WireError {
  readonly name: string
  readonly message: string
  readonly code?: ErrorCode
  readonly hint?: string
  readonly field?: string
}

export function toWireError(error: unknown): WireError {
  if (EngineError.isInstance(error)) {
    const { name, message, code, hint, field } = error
    return {
      name,
      message,
      code,
      ...(hint !== undefined && { hint }),
      ...(field !== undefined && { field }),
    }
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return { name, message }
}

/** An `EngineError`, or an `AbortError`, since that is an outcome and no failure. */
export function fromWireError({ name, message, code, hint, field }: WireError): Error {
  if (name === 'AbortError') return new DOMException(message, 'AbortError')
  return new EngineError(code ?? 'backend/unexpected', {
    message:
      code === undefined ? `The engine failed in a way that it does not know: ${name}: ${message}` : message,
    ...(hint !== undefined && { hint }),
    ...(code === undefined && { hint: 'Try again. If it stays, reload the page.' }),
    ...(field !== undefined && { field }),
  })
}
