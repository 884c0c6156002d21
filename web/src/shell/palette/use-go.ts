import { type NavigateOptions, useNavigate } from '@tanstack/react-router';

/** Opens a page of the dashboard. */
export function useGo(): (to: NavigateOptions) => void {
  const navigate = useNavigate();
  return (to) => void navigate(to);
}
