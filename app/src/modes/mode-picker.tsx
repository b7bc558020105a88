/** Chooses what the next question is for: describe, read, what is ahead, find, what changed. */
export function ModePicker() {
  return null
}
