import css from './fresh-bar.module.css';
import { Icon, type IconName } from './icon.tsx';

/** Says what has come since the rows were loaded; they never move by themselves. */
export const FreshBar = ({ icon, children, onShow }: { icon: IconName; children: string; onShow: () => void }) => (
  <button type="button" className={css.fresh} onClick={onShow}>
    <Icon name={icon} size={14} /> {children}
  </button>
);
