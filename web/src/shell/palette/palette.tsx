import { plural, t } from '@lingui/core/macro';
import { VisuallyHidden } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightSearchProps, useSpotlight } from '@mantine/spotlight';
import { type KeyboardEvent, type Ref, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { isShortcut } from '../../parts/shortcuts.ts';
import { useGroups } from './items.ts';
import type { Item } from './match.ts';
import css from './palette.module.css';

/**
 * The command palette, opened by being rendered: a combobox whose list is always open (WAI-ARIA APG, "Combobox"). Its
 * roles are our own, as Spotlight has none.
 */
export function Palette({ field, query, onQuery, entered, hasRecords, onShortcuts, onClose }: PaletteProps) {
  const { groups, busy } = useGroups(query, hasRecords, onShortcuts);
  const items = groups.flatMap(({ items }) => items);
  const [{ store, close }] = useState(openSpotlight);
  const { selected } = useSpotlight(store);
  const at = Math.min(Math.max(0, selected), items.length - 1);
  const list = useId();
  const optionId = (index: number) => `${list}-${index}`;
  const choose = ({ run }: Item) => {
    onClose(true);
    run();
  };
  useEffect(() => {
    const [best] = items;
    if (entered && !busy && best) choose(best);
  });
  // What is chosen stays so when records arrive.
  const chosen = useRef<string>(undefined);
  useLayoutEffect(() => {
    const now = items.findIndex(({ id }) => id === chosen.current);
    const next = at > 0 && now > 0 ? now : at;
    if (next !== selected) store.setState({ ...store.getState(), selected: next });
  }, [items.map(({ id }) => id).join(' ')]);
  useLayoutEffect(() => {
    chosen.current = items[at]?.id;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    // Spotlight handles the arrows after this, and tells nobody what it has selected.
    queueMicrotask(() => store.setState({ ...store.getState() }));
    if (!isShortcut('palette', event.nativeEvent)) return;
    event.preventDefault();
    close();
  };
  let index = 0;
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={onQuery}
      onSpotlightClose={() => onClose(false)}
      closeOnActionTrigger={false}
      clearQueryOnClose={false}
      shortcut={null}
      scrollable
      maxHeight="70vh"
      centered={false}
      yOffset="12vh"
      size={560}
      radius={8}
      overlayProps={{ blur: 0 }}
      transitionProps={{ duration: 0 }}
      returnFocus={false}
      title={t`Find`}
      classNames={css}
    >
      <Spotlight.Search
        {...field}
        role="combobox"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={items.length > 0 ? optionId(at) : undefined}
        onKeyDown={onKeyDown}
      />
      <Spotlight.ActionsList id={list} role="listbox" aria-label={t`Found`} aria-busy={busy}>
        {groups.map(({ title, items }) => (
          <Spotlight.ActionsGroup key={title} label={title} role="group" aria-label={title}>
            {items.map((item) => {
              const n = index++;
              return (
                <Spotlight.Action
                  key={item.id}
                  // Spotlight keeps the prop `id` to itself.
                  ref={(option) => {
                    option?.setAttribute('id', optionId(n));
                  }}
                  role="option"
                  aria-selected={n === at}
                  data-selected={n === at || undefined}
                  label={item.label}
                  leftSection={<Icon name={item.icon} />}
                  rightSection={item.note}
                  onClick={() => choose(item)}
                />
              );
            })}
          </Spotlight.ActionsGroup>
        ))}
      </Spotlight.ActionsList>
      {items.length === 0 && <Spotlight.Empty>{busy ? t`Searching…` : t`Nothing found.`}</Spotlight.Empty>}
      <VisuallyHidden role="status">
        {busy ? '' : plural(items.length, { one: '# result', other: '# results' })}
      </VisuallyHidden>
    </Spotlight.Root>
  );
}

function openSpotlight() {
  const [store, { open, close }] = createSpotlight();
  open();
  return { store, close };
}

interface PaletteProps {
  readonly field: Readonly<SpotlightSearchProps> & { readonly ref: Ref<HTMLInputElement> };
  readonly query: string;
  readonly onQuery: (query: string) => void;
  /** Enter was pressed already: the best match is chosen as soon as it is known. */
  readonly entered: boolean;
  /** Whether the user may see what the account holds. */
  readonly hasRecords: boolean;
  readonly onShortcuts: () => void;
  readonly onClose: (chosen: boolean) => void;
}
