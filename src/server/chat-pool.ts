/**
 * Requests carry whole conversations, and the next question of one usually comes soon. Conversations that were
 * answered last are kept with what the model has computed of them, and found again by their turns.
 */
import type { Chat, ChatTurn, ImageInput } from '../engine/types.ts'

export class ChatPool {
  readonly #limit: number
  /** The least recently used first. */
  readonly #chats = new Map<string, Chat>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#chats.size
  }

  /** The conversation is the caller's from now on. */
  take(key: string): Chat | undefined {
    const chat = this.#chats.get(key)
    this.#chats.delete(key)
    return chat
  }

  put(key: string, chat: Chat): void {
    this.take(key)?.dispose()
    this.#chats.set(key, chat)
    for (const oldest of this.#chats.keys()) {
      if (this.#chats.size <= this.#limit) return
      this.take(oldest)?.dispose()
    }
  }

  clear(): void {
    for (const chat of this.#chats.values()) chat.dispose()
    this.#chats.clear()
  }
}

/** The same for the same turns with the same pictures, and for no others. */
export async function keyOfTurns(turns: readonly ChatTurn[]): Promise<string> {
  const parts = await Promise.all(
    turns.map(async (turn) =>
      turn.role === 'user'
        ? [
            turn.role,
            turn.text,
            turn.detail,
            turn.imageOffsets,
            await Promise.all((turn.images ?? []).map(hashPicture)),
          ]
        : [turn.role, turn.text],
    ),
  )
  return hash(new TextEncoder().encode(JSON.stringify(parts)))
}

/** Pictures of requests are files; what else there may be is never the same as another. */
async function hashPicture(picture: ImageInput): Promise<string> {
  return picture instanceof Blob ? hash(new Uint8Array(await picture.arrayBuffer())) : crypto.randomUUID()
}

async function hash(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
