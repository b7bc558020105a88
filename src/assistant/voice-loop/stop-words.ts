/** Words that want nothing but silence. */

const STOP =
  /^(?:(?:please )?(?:stop|stop it|stop talking|be quiet|quiet|silence|shut up|enough|that's enough|never mind|cancel)(?: please)?|停|停下|停止|停一下|别说了|不要说了|不用说了|安静|闭嘴|够了|取消)$/

/** Whether an utterance asks for silence: the answer ends, and nothing is asked. */
export function isStopWord(text: string): boolean {
  return STOP.test(
    text
      .toLowerCase()
      .replace(/’/g, "'")
      .replace(/[.,!?。，！？、\s]+/g, ' ')
      .trim(),
  )
}
