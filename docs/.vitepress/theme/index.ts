import theme from 'vitepress/theme-without-fonts';
import '../../../web/src/tokens.css';
import './guide.css';

export default theme;
