/** Pictures that the person opened with the installed app: they go the same way as shared ones. */

interface LaunchQueue {
  setConsumer(consumer: (launch: { readonly files: readonly FileSystemFileHandle[] }) => void): void
}

export function takeLaunchedFiles(): void {
  const { launchQueue } = globalThis as { readonly launchQueue?: LaunchQueue }
  launchQueue?.setConsumer(({ files }) => {
    if (files.length > 0) void hand(files)
  })
}

async function hand(handles: readonly FileSystemFileHandle[]): Promise<void> {
  const cache = await caches.open('onsight-shared')
  for (const [index, handle] of handles.entries()) {
    const file = await handle.getFile()
    const headers = { 'content-type': file.type, 'x-file-name': encodeURIComponent(file.name) }
    await cache.put(new URL(`shared/${index}`, document.baseURI).href, new Response(file, { headers }))
  }
  location.hash = '#/ask?shared'
}
