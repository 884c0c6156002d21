/** The heap of another Node process, through its inspector (Chrome DevTools Protocol: HeapProfiler, Runtime). */

export interface Heap {
  /** MB (10^6 bytes) that V8 has in use after a full collection. */
  usedMb(): Promise<number>;
  close(): void;
}

/** `port`: as in `--inspect=127.0.0.1:PORT`. */
export async function openHeap(port: number): Promise<Heap> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as [
    { webSocketDebuggerUrl: string },
  ];
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let last = 0;
  const ask = (method: string): Promise<{ usedSize?: number }> =>
    new Promise((resolve) => {
      const id = ++last;
      const listen = ({ data }: MessageEvent): void => {
        const reply = JSON.parse(String(data)) as { id?: number; result?: { usedSize?: number } };
        if (reply.id !== id) return;
        socket.removeEventListener('message', listen);
        resolve(reply.result ?? {});
      };
      socket.addEventListener('message', listen);
      socket.send(JSON.stringify({ id, method }));
    });
  return {
    async usedMb() {
      await ask('HeapProfiler.collectGarbage');
      const { usedSize = Number.NaN } = await ask('Runtime.getHeapUsage');
      return usedSize / 1e6;
    },
    close: () => socket.close(),
  };
}
