import css from './keys.module.css';

/** Verifications by day, as small bars; the number stands beside them. */
export const UsageBars = ({ requests, most }: { requests: readonly number[]; most: number }) => (
  <svg className={css.bars} viewBox={`0 0 ${requests.length * 3} 20`} preserveAspectRatio="none" aria-hidden="true">
    {requests.map((n, i) => {
      const height = n === 0 ? 1 : Math.max(2, (n / most) * 20);
      return <rect key={i} x={i * 3} y={20 - height} width={2} height={height} data-none={n === 0} />;
    })}
  </svg>
);
