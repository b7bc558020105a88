import { settings } from '../settings/settings.ts'

export const DEFAULT_HUB = 'https://huggingface.co'

/** Where models come from: what the person has typed, else the usual one. */
export const hubAddress = (): string => settings.hub.peek().trim() || DEFAULT_HUB
