import { t } from '@lingui/core/macro';
import { Button, Center, Text } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Component, type ReactNode } from 'react';
import { unreachable } from '../api/client.ts';
import { messageOf } from './message-of.ts';

const canReachService = (): Promise<boolean> =>
  fetch('/assets/favicon.svg', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );

/**
 * A page that is loaded when it is opened. Where its file is gone after an upgrade, the router reloads the document
 * once; without a connection that would end in the browser's error page, so it throws an error for users.
 */
export const lazyPage = <M extends Record<string, unknown>, N extends keyof M & string>(
  load: () => Promise<M>,
  name: N,
) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        throw (await canReachService()) ? error : unreachable();
      }),
    name,
  );

/**
 * A part of a page that is loaded when it is wanted. It never reloads the document, in which something may be typed.
 */
export const lazyPart = <M extends Record<string, unknown>, N extends keyof M & string>(
  load: () => Promise<M>,
  name: N,
) =>
  lazyRouteComponent(
    () =>
      load().catch(async () => {
        throw (await canReachService()) ? gone() : unreachable();
      }),
    name,
  );

const gone = () =>
  new Error('This part of the dashboard could not be loaded: the service may have been updated. Reload the page.');

interface BoundaryProps {
  /** What may not load. */
  readonly part: { readonly preload?: () => Promise<unknown> | undefined };
  /** Stands in its place. `again` tries once more. */
  readonly failed: (error: Error, again: () => void) => ReactNode;
  readonly children: ReactNode;
}

/** Keeps the page where a part of it does not load. It is tried again on request: it may take the focus. */
export class PartBoundary extends Component<BoundaryProps, { error: Error | null }> {
  override state = { error: null };

  static getDerivedStateFromError = (error: Error) => ({ error });

  readonly again = async () => {
    await this.props.part.preload?.();
    this.setState({ error: null });
  };

  override render() {
    const { error } = this.state;
    return error === null ? this.props.children : this.props.failed(error, () => void this.again());
  }
}

/** In place of a chart, whose numbers are in the table beside it. */
export const notDrawn = (error: Error) => (
  // Above the links to what the columns of a chart count, which lie over it.
  <Center role="alert" h={200} pos="relative" style={{ flexDirection: 'column', gap: 8, zIndex: 1 }}>
    <Text size="sm">{messageOf(error)}</Text>
    {/* A script that failed once is not fetched again by the document. */}
    <Button size="xs" onClick={() => location.reload()}>{t`Reload`}</Button>
  </Center>
);
