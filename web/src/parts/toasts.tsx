import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export { notifications } from '@mantine/notifications';

/** In the middle: at the right they would cover the actions of rows. */
export const Toasts = () => <Notifications position="bottom-center" />;
