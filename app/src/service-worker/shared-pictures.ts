/** Pictures that another app shared: kept until the page, which may have to start first, takes them. */

/** Part of the name of the share target in the manifest, relative to the folder of the app. */
export const SHARE_PATH = 'share'

/** The page reads and deletes what is in it: keys are `shared/0`, `shared/1` and so on under the app's folder. */
export const SHARED_CACHE = 'onsight-shared'

export async function keepSharedPictures(
  request: Request,
  base: string,
  cache: Pick<Cache, 'put'>,
): Promise<Response> {
  const form = await request.formData()
  const files = form.getAll('pictures').filter((value): value is File => typeof value !== 'string')
  for (const [index, file] of files.entries()) {
    const headers = {
      'content-type': file.type || 'application/octet-stream',
      'x-file-name': encodeURIComponent(file.name),
    }
    await cache.put(new URL(`shared/${index}`, base).href, new Response(file, { headers }))
  }
  // See Other: reloading the page does not share again.
  return Response.redirect(new URL('./#/ask?shared', base).href, 303)
}
