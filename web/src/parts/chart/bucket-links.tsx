import type { LinkProps } from '@tanstack/react-router';
import { Link } from '@tanstack/react-router';
import { moveWithArrows } from '../arrow-keys.ts';
import { useDrag } from '../use-drag.ts';
import css from './bucket-links.module.css';

export type To = Pick<LinkProps, 'to' | 'search'>;

/** Of the vertical axis at the right of a plot; the links leave it out. */
export const AXIS_WIDTH = 68;

interface Bucket {
  /** Start, RFC 3339. */
  readonly at: string;
  /** Its values in words. */
  readonly text: string;
  /** Null: it has no rows to open. */
  readonly to: To | null;
}

/** A link over each bucket of a plot: a single stop for the keyboard, within which arrow keys move. */
export function BucketLinks(props: {
  label: string;
  buckets: readonly Bucket[];
  pointed: number | null;
  onPoint: (index: number | null) => void;
  /** Of those that were dragged over. */
  onChoose?: ((first: number, last: number) => void) | undefined;
}) {
  const { label, buckets, pointed, onPoint, onChoose } = props;
  const { dragged, start, over } = useDrag((one, other) => onChoose?.(Math.min(one, other), Math.max(one, other)));
  const stop = Math.min(pointed ?? buckets.length - 1, buckets.length - 1);
  return (
    <div
      role="toolbar"
      aria-label={label}
      className={css.links}
      onKeyDown={moveWithArrows}
      onBlur={() => onPoint(null)}
    >
      {buckets.map(({ at, text, to }, i) =>
        to === null ? (
          <span
            key={at}
            role="img"
            aria-label={text}
            title={text}
            tabIndex={i === stop ? 0 : -1}
            onPointerEnter={() => onPoint(i)}
            onFocus={() => onPoint(i)}
            {...(i === pointed ? { 'data-chosen': true } : {})}
          />
        ) : (
          <Link
            key={at}
            {...to}
            aria-label={text}
            tabIndex={i === stop ? 0 : -1}
            draggable={false}
            onPointerDown={(event) => event.button === 0 && event.pointerType === 'mouse' && onChoose && start(i)}
            onPointerEnter={() => {
              onPoint(i);
              over(i);
            }}
            onFocus={() => onPoint(i)}
            preload={false}
            {...(i === pointed || dragged?.(i) === true ? { 'data-chosen': true } : {})}
          />
        ),
      )}
    </div>
  );
}
