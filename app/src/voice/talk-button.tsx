/** Talks to the conversation of the screen it stands on. */
export function TalkButton() {
  return null
}
