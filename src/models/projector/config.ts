/** Configurations and tensor names of projectors. */
import type { ConfigFields } from '../config-fields.ts'
import type { ProjectorConfig } from '../model-config.ts'
import { ACTIVATION_NAMES } from '../vision/config.ts'

/** Idefics3: `scale_factor`, which must divide the patch grid. */
export function parsePixelShuffle(fields: ConfigFields, grid: number): ProjectorConfig {
  const factor = fields.count('scale_factor', 2)
  if (grid % factor !== 0)
    throw fields.error('scale_factor', `a divisor of the ${grid} patches of a side`, factor)
  return { kind: 'pixel-shuffle', factor }
}

/** LLaVA: two linear layers, the inner one as wide as the decoder. */
export function parsePerceptron(fields: ConfigFields, decoderDim: number): ProjectorConfig {
  return {
    kind: 'mlp',
    hiddenDim: decoderDim,
    activation: fields.choice('projector_hidden_act', ACTIVATION_NAMES, 'gelu'),
    bias: fields.boolean('multimodal_projector_bias', true),
  }
}

const NAMES: Readonly<Record<string, string>> = {
  'connector.modality_projection.proj.weight': 'mm.model.fc.weight',
  'multi_modal_projector.linear_1.weight': 'mm.0.weight',
  'multi_modal_projector.linear_1.bias': 'mm.0.bias',
  'multi_modal_projector.linear_2.weight': 'mm.2.weight',
  'multi_modal_projector.linear_2.bias': 'mm.2.bias',
}

/** The mmproj name of a projector tensor; undefined for a tensor that is none. mmproj names stay as they are. */
export function renameProjectorTensor(name: string): string | undefined {
  return name.startsWith('mm.') ? name : NAMES[name.replace(/^model\./, '')]
}
