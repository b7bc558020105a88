/** Models elsewhere, and routes between them and those on this machine. */
import { connectRemoteOn, type RemoteModel, type RemoteOptions } from '../assistant/remote/remote-model.ts'
import { createImageDecoder } from '../host/node/image-decoder.ts'
import { encodeJpeg } from '../host/node/jpeg-encoder.ts'
import { createFileHost } from './file-host.node.ts'
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
 *   apiKey: process.env.ONSIGHT_REMOTE_KEY,
 * })
 * for await (const event of model.chat().send({ text: 'What is this?', images: ['photo.jpg'] })) …
 *
 * @throws EngineError `option/remote`.
 */
export function connectRemote(options: RemoteOptions): RemoteModel {
  const encodePicture = createRemotePictureEncoder(createFileHost(), createImageDecoder(), encodeJpeg)
  return connectRemoteOn({ fetch, encodePicture }, options)
}
