/** Chooses what the next question is for: describe, read, what is ahead, find, what changed. */
import { useId } from 'preact/hooks'
import { t } from '../texts/texts.ts'
import { currentMode, MODES } from './modes.ts'
import './modes.css'

export function ModePicker() {
  const name = useId()
  return (
    <fieldset class="modes-group">
      <legend class="modes-legend">{t('modes.legend')}</legend>
      {MODES.map((mode) => (
        <label key={mode} class="modes-chip">
          <input
            type="radio"
            class="modes-input"
            name={name}
            value={mode}
            checked={currentMode.value === mode}
            onChange={() => {
              currentMode.value = mode
            }}
          />
          <span class="modes-face">{t(`modes.${mode}`)}</span>
        </label>
      ))}
    </fieldset>
  )
}
