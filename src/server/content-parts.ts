/** A message's content: a text, or parts of text and pictures. */
import type { Detail } from '../engine/types.ts'
import type { NamedPicture, QuestionTurn } from './answer-request.ts'
import { invalidValue, RequestFields, unsupportedField } from './request-fields.ts'

/** What a route calls its parts. */
export interface PartNames {
  readonly text: readonly string[]
  readonly picture: string
}

const DETAILS: readonly Detail[] = ['auto', 'low', 'high']

/** Text only, as system prompts and answers are; parts become lines. */
export function parseText(content: unknown, field: string, names: PartNames): string {
  const { text, pictures } = parseContent(content, field, names)
  const [picture] = pictures
  if (!picture) return text
  throw unsupportedField(picture.field, 'pictures are taken in messages of the user only.')
}

/**
 * Where all text stands in one part, pictures come before it, as the models were trained. Otherwise pictures stay where
 * they are, since the text around them says which is which.
 */
export function parseContent(content: unknown, field: string, names: PartNames): QuestionTurn {
  if (typeof content === 'string') {
    return { role: 'user', text: content, pictures: [], offsets: [], detail: 'auto' }
  }
  if (!Array.isArray(content)) throw invalidValue(field, 'a text or a list of parts', content)
  const pictures: NamedPicture[] = []
  const offsets: number[] = []
  const details = new Set<Detail>()
  let text = ''
  let textParts = 0
  let isAfterText = false
  for (const [index, value] of content.entries()) {
    const part = new RequestFields(value, `${field}[${index}]`)
    const type = part.text('type')
    if (type !== undefined && names.text.includes(type)) {
      text += `${isAfterText ? '\n' : ''}${part.text('text') ?? ''}`
      textParts++
      isAfterText = true
    } else if (type === names.picture) {
      const { detail, ...picture } = parsePicture(part)
      pictures.push(picture)
      offsets.push(text.length)
      details.add(detail)
      isAfterText = false
    } else {
      throw unsupportedField(
        part.pathOf('type'),
        `expected ${[...names.text, names.picture].join(' or ')}, found ${JSON.stringify(type ?? null)}.`,
      )
    }
  }
  if (details.size > 1) {
    throw unsupportedField(field, 'pictures of one message must have the same detail.')
  }
  const [detail = 'auto'] = details
  return { role: 'user', text, pictures, offsets: textParts > 1 ? offsets : offsets.map(() => 0), detail }
}

/** `image_url` is an object with `url` and `detail`, or the address alone. */
function parsePicture(part: RequestFields): NamedPicture & { readonly detail: Detail } {
  const field = part.pathOf('image_url')
  const value = part.raw('image_url')
  if (typeof value === 'string') {
    return { field, url: value, detail: part.choice('detail', DETAILS) ?? 'auto' }
  }
  if (value === undefined) throw invalidValue(field, 'the address of a picture', value)
  const image = new RequestFields(value, field)
  const url = image.text('url')
  if (url === undefined) throw invalidValue(image.pathOf('url'), 'the address of a picture', url)
  return { field, url, detail: image.choice('detail', DETAILS) ?? 'auto' }
}
