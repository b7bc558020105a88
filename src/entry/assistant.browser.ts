/** Models elsewhere, and routes between them and those on this device. */
import { connectRemoteOn, type RemoteModel, type RemoteOptions } from '../assistant/remote/remote-model.ts'
import { readPicture } from '../host/browser/file-host.ts'
import { createImageDecoder } from '../host/browser/image-decoder.ts'
import { encodeJpeg } from '../host/browser/jpeg-encoder.ts'
import { createRemotePictureEncoder } from './remote-picture-encoder.ts'

export type { AnsweringChat, AnsweringModel } from '../assistant/answering-model.ts'
export type { RemoteModel, RemoteOptions } from '../assistant/remote/remote-model.ts'
export {
  type ConsentRequest,
  createRoutedModel,
  type LocalRoute,
  type RouteChoice,
  type RouteOptions,
  type RouteReason,
} from '../assistant/routed-model.ts'
export type { AnsweredBy } from '../engine/types.ts'

/**
 * A model behind an OpenAI-compatible endpoint, asked like one on the device. Messages and pictures leave the device;
 * pictures are sent without location and other metadata, at most 2,048 pixels a side. Nothing is sent before the
 * first question.
 *
 * @example
 * const model = connectRemote({
 *   url: 'https://api.example.com/v1',
 *   model: 'some-vision-model',
 *   apiKey: keyOfThePerson,
 * })
 * for await (const event of model.chat().send({ text: 'What is this?', images: [photo] })) …
 *
 * @throws EngineError `option/remote`.
 */
export function connectRemote(options: RemoteOptions): RemoteModel {
  const encodePicture = createRemotePictureEncoder({ readPicture }, createImageDecoder(), encodeJpeg)
  return connectRemoteOn({ fetch: (input, init) => fetch(input, init), encodePicture }, options)
}
