/** Calls for each new picture of a video, ten times a second at most. */

/** A little less than a tenth of a second, as frames of 10 a second do not come to the millisecond. */
const LEAST_MS = 90
/** Where the browser does not say when a frame comes. */
const TIMER_MS = 100

/** @param onFrame Gets the time in milliseconds. @returns Ends it. */
export function watchFrames(video: HTMLVideoElement, onFrame: (at: number) => void): () => void {
  let isOver = false
  let last = Number.NEGATIVE_INFINITY
  const take = (): void => {
    const at = performance.now()
    if (at - last < LEAST_MS || video.videoWidth === 0) return
    last = at
    onFrame(at)
  }
  if (typeof video.requestVideoFrameCallback === 'function') {
    let handle = 0
    const onVideoFrame = (): void => {
      if (isOver) return
      take()
      handle = video.requestVideoFrameCallback(onVideoFrame)
    }
    handle = video.requestVideoFrameCallback(onVideoFrame)
    return () => {
      isOver = true
      video.cancelVideoFrameCallback(handle)
    }
  }
  let time = -1
  const timer = setInterval(() => {
    if (video.currentTime === time) return
    time = video.currentTime
    take()
  }, TIMER_MS)
  return () => clearInterval(timer)
}
