import {
  type ComponentProps,
  type ComponentType,
  type ReactElement,
  type RefObject,
  startTransition,
  useEffect,
  useRef,
  useState,
} from 'react';
import { PartBoundary } from './lazy.tsx';
import { messageOf } from './message-of.ts';

/** What the button gets. */
type MenuButtonProps = Pick<
  ComponentProps<'button'>,
  'ref' | 'aria-haspopup' | 'aria-expanded' | 'onPointerEnter' | 'onFocus' | 'onClick'
>;

/** What a menu gets that replaces its button: opened when it is rendered. */
export interface MenuProps {
  readonly target: RefObject<HTMLButtonElement | null>;
  /** The button. */
  readonly children: ReactElement;
}

/**
 * A button with a menu, which is loaded when it is first wanted, with all that menus are made of: this keeps the first
 * view small.
 */
export function LazyMenu<P extends object>(props: {
  part: ComponentType<MenuProps & P> & { readonly preload?: () => Promise<unknown> | undefined };
  of: P;
  button: (props: MenuButtonProps) => ReactElement;
  /** The class of the message where it does not load. */
  failure?: string | undefined;
}) {
  const { part: Menu, of, button, failure } = props;
  const [isWanted, setWanted] = useState(false);
  const target = useRef<HTMLButtonElement>(null);
  if (isWanted)
    return (
      <PartBoundary
        part={Menu}
        failed={(error, again) => (
          <>
            {button({ 'aria-haspopup': 'menu', 'aria-expanded': false, onClick: again })}
            <p role="alert" className={failure}>
              {messageOf(error)}
            </p>
          </>
        )}
      >
        <Menu {...of} target={target}>
          {button({ ref: target })}
        </Menu>
      </PartBoundary>
    );
  const preload = () => void Menu.preload?.();
  return button({
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: preload,
    onFocus: preload,
    // Stays until the menu is here.
    onClick: () => startTransition(() => setWanted(true)),
  });
}

/** The state of such a menu. It has replaced the button that was pressed, and gives the focus back to the new one. */
export function useOpenedMenu(target: MenuProps['target']) {
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    target.current?.focus();
    setOpened(true);
  }, [target]);
  return { opened, onChange: setOpened };
}
