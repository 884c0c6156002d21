import { useEffect, useState } from 'react';

/** Bars from where the pointer went down to where it is; `choose` is called when it is let go on another one. */
export function useDrag(choose: (one: number, other: number) => void) {
  const [drag, setDrag] = useState<readonly [from: number, to: number] | null>(null);
  useEffect(() => {
    if (drag === null) return;
    const [from, to] = drag;
    const end = ({ type }: Event) => {
      setDrag(null);
      // What is let go where it began is a click.
      if (type === 'pointerup' && from !== to) choose(from, to);
    };
    window.addEventListener('pointerup', end);
    window.addEventListener('pointercancel', end);
    return () => {
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
  }, [drag, choose]);
  const isMoved = drag !== null && drag[0] !== drag[1];
  return {
    /** Whether a bar is among those that are dragged over; null while none are. */
    dragged: isMoved ? (i: number) => i >= Math.min(...drag) && i <= Math.max(...drag) : null,
    start: (i: number) => setDrag([i, i]),
    over: (i: number) => drag !== null && setDrag([drag[0], i]),
  };
}
