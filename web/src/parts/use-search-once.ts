import { useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/**
 * Acts on a search parameter that asks to open something, then takes it out of the URL, so that neither a reload nor
 * the way back asks again. `value`: undefined where it is not there.
 */
export function useSearchOnce<T extends string | true>(
  name: string,
  value: T | undefined,
  act: (value: T) => void,
): void {
  const navigate = useNavigate();
  const take = useEffectEvent((value: T) => {
    act(value);
    const search = (now: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(now).filter(([key]) => key !== name));
    void navigate({ to: '.', search, replace: true, resetScroll: false });
  });
  useEffect(() => {
    if (value !== undefined) take(value);
  }, [value]);
}
