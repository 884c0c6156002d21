/** Names that do not follow from their key. */
const NAMES: Readonly<Record<string, string>> = {
  none: 'Own servers',
  other: 'Others',
  att: 'AT&T',
  aws: 'AWS',
  bt: 'BT',
  'cisco-ironport': 'Cisco IronPort',
  'daum/kakao': 'Daum and Kakao',
  'gmx/web.de': 'GMX and WEB.DE',
  godaddy: 'GoDaddy',
  icloud: 'iCloud',
  'libero/italiaonline': 'Libero',
  'mail.ru': 'Mail.ru',
  microsoft365: 'Microsoft 365',
  'microsoft365-cn': 'Microsoft 365 China',
  'n-able': 'N-able',
  netease: 'NetEase',
  'outlook.com': 'Outlook.com',
  ovh: 'OVH',
  sfr: 'SFR',
  siteground: 'SiteGround',
  'symantec/broadcom': 'Symantec',
  't-online': 'T-Online',
  'wp/o2': 'WP and o2',
};

/** Of a mail operator, by its key: a provider of data/mx-providers.json, or a domain, which stays as it is. */
export const operatorName = (key: string): string =>
  NAMES[key] ?? (key.includes('.') ? key : `${key.charAt(0).toUpperCase()}${key.slice(1).replaceAll('-', ' ')}`);
