import { Modal, VisuallyHidden } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';
import { ADDRESS_LENGTH } from '../../../../src/kernel/facts/limits.ts';
import { focusContent, focusOnMount } from '../../parts/focus.ts';
import { pluralize } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { isShortcut } from '../../parts/shortcuts.ts';
import type { Group, Item } from './match.ts';
import css from './palette.module.css';
import { useGroups } from './use-groups.ts';

const LABEL = 'Find a page, a record or an action';

/**
 * The command palette: a combobox whose list is always open (WAI-ARIA APG, "Combobox"). `hasRecords`: whether the user
 * may see what the account holds.
 */
export function Palette(props: { hasRecords: boolean; onShortcuts: () => void; onClose: () => void }) {
  const { hasRecords, onShortcuts, onClose } = props;
  const [typed, setTyped] = useState('');
  const { groups, busy } = useGroups(typed, hasRecords, onShortcuts);
  const items = groups.flatMap(({ items }) => items);
  const [chosenId, setChosen] = useState<string | null>(null);
  // Records arrive later; what is chosen stays.
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === chosenId),
  );
  const list = useId();
  const optionId = (index: number) => `${list}-${index}`;
  const [opener] = useState(() => document.activeElement);
  const dismiss = () => {
    onClose();
    if (opener instanceof HTMLElement) opener.focus();
  };
  const choose = (item: Item | undefined) => {
    if (item === undefined) return;
    onClose();
    focusContent();
    item.run();
  };
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (isShortcut('palette', event.nativeEvent)) dismiss();
    else if (event.key === 'Enter') choose(items[at]);
    else if (step !== 0) setChosen(items.at((at + step) % Math.max(1, items.length))?.id ?? null);
    else return;
    event.preventDefault();
  };
  return (
    <Modal.Root
      opened
      onClose={dismiss}
      returnFocus={false}
      transitionProps={{ duration: 0 }}
      yOffset="12vh"
      size={560}
      radius={8}
      classNames={{ content: css.palette ?? '' }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label="Find">
        <input
          className={css.input}
          role="combobox"
          aria-label={LABEL}
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={list}
          aria-activedescendant={items.length > 0 ? optionId(at) : undefined}
          placeholder="A page, an address, an ID, a list"
          value={typed}
          maxLength={ADDRESS_LENGTH.max}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          // At once: what is typed next belongs here.
          ref={focusOnMount}
          data-autofocus
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setChosen(null);
          }}
          onKeyDown={onKeyDown}
        />
        <div ref={place} className={css.found} role="listbox" id={list} aria-label="Found" aria-busy={busy}>
          {numbered(groups).map(({ title, items }) => (
            <fieldset key={title} aria-label={title}>
              <p aria-hidden>{title}</p>
              {items.map(({ item, index }) => (
                <Option
                  key={item.id}
                  item={item}
                  id={optionId(index)}
                  isChosen={index === at}
                  onPoint={() => setChosen(item.id)}
                  onChoose={() => choose(item)}
                />
              ))}
            </fieldset>
          ))}
        </div>
        {items.length === 0 && <p className={css.none}>{busy ? 'Searching…' : 'Nothing found.'}</p>}
        <VisuallyHidden role="status">{busy ? '' : pluralize(items.length, 'result')}</VisuallyHidden>
      </Modal.Content>
    </Modal.Root>
  );
}

/** The options of all groups, counted through. */
function numbered(groups: readonly Group[]) {
  let index = 0;
  return groups.map(({ title, items }) => ({ title, items: items.map((item) => ({ item, index: index++ })) }));
}

/** The focus stays in the field, which handles the keys. */
function Option(props: { item: Item; id: string; isChosen: boolean; onPoint: () => void; onChoose: () => void }) {
  const { item, id, isChosen, onPoint, onChoose } = props;
  const { icon, label, note } = item;
  return (
    <button
      type="button"
      id={id}
      className={css.option}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      onPointerMove={onPoint}
      onPointerDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <Icon name={icon} />
      <span className={css.label}>{label}</span>
      {note !== undefined && <span className={css.note}>{note}</span>}
    </button>
  );
}
