import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

export { notifications } from '@mantine/notifications';

export const Toasts = () => <Notifications position="bottom-right" />;
