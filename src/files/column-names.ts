/** What columns of addresses are called; case, accents, spaces and punctuation do not count. */

/** Matches the whole name only. */
export const WHOLE_NAMES: readonly string[] = [
  // English
  ...['email', 'emails', 'mail', 'emailaddress', 'emailaddresses', 'mailaddress', 'emailid', 'emailaddr', 'inbox'],
  // German, Dutch, Scandinavian, Finnish, Icelandic
  ...['emailadresse', 'mailadresse', 'elektronischepost', 'emailadres', 'mailadres', 'epost', 'epostadress'],
  ...['epostadresse', 'epostaddress', 'mejl', 'mejladress', 'mailadress', 'emailadress', 'sahkoposti'],
  ...['sahkopostiosoite', 'meili', 'tolvupostur', 'netfang', 'tolvupostfang'],
  // Romance languages
  ...['correo', 'correoelectronico', 'correoe', 'direcciondecorreo', 'direcciondecorreoelectronico', 'courriel'],
  ...['adresseemail', 'adressemail', 'adressecourriel', 'adresseelectronique', 'mel', 'indirizzoemail'],
  ...['postaelettronica', 'indirizzodipostaelettronica', 'correioeletronico', 'enderecodeemail'],
  ...['enderecoemail', 'enderecoeletronico', 'correuelectronic', 'correu', 'correoelectronicoa', 'adresaemail'],
  // Slavic and Baltic languages
  ...['adresemail', 'adresmail', 'pocztaelektroniczna', 'poczta', 'emailovaadresa', 'mailovaadresa', 'posta'],
  ...['elektronickaposta', 'eposta', 'elektronskaposta', 'emailadresa', 'elpastas', 'epastas', 'elpasts', 'epasts'],
  ...['почта', 'электроннаяпочта', 'эпочта', 'элпочта', 'адресэлектроннойпочты', 'имейл', 'емейл', 'емаил', 'имеил'],
  ...['емеил', 'мейл', 'электроннаядрес', 'електроннапошта', 'пошта', 'електроннапоща', 'имейладрес', 'имеиладрес'],
  // Others of Europe and its neighbors
  ...['emailcim', 'villamposta', 'drotposta', 'epostaadresi', 'elektronikposta', 'helbidea', 'riphost', 'ebost'],
  ...['ηλεκτρονικοταχυδρομειο', 'ηλταχυδρομειο', 'ημειλ', 'ιμειλ', 'ηλεκτρονικηδιευθυνση', 'ελφοστα'],
  ...['דואל', 'דואראלקטרוני', 'אימייל', 'מייל'],
  ...['البريدالالكتروني', 'البريدالإلكتروني', 'بريدالكتروني', 'بريدإلكتروني', 'الايميل', 'الإيميل', 'ايميل', 'إيميل'],
  ...['ایمیل', 'پستالکترونیک', 'رایانامه'],
  // Asia and Africa
  ...[
    '邮箱',
    '电子邮箱',
    '电子邮件',
    '邮件',
    '邮箱地址',
    '电子邮件地址',
    '电邮',
    '郵箱',
    '電郵',
    '電子郵件',
    '信箱',
    '電子信箱',
    '電郵地址',
  ],
  ...['電子郵件地址', 'メール', 'メールアドレス', '電子メール', 'eメール', 'eメールアドレス', 'イーメール', 'メアド'],
  ...[
    '이메일',
    '이메일주소',
    '메일',
    '전자메일',
    '전자우편',
    '메일주소',
    'อีเมล',
    'อีเมล์',
    'ที่อยู่อีเมล',
    'ईमेल',
    'ईमेलपता',
    'ইমেইল',
    'ইমেল',
  ],
  ...['மின்னஞ்சல்', 'ఇమెయిల్', 'surel', 'suratelektronik', 'alamatemail', 'emel', 'alamatemel', 'thudientu', 'diachiemail'],
  ...['baruapepe', 'eposadres', 'epos', 'ელფოსტა', 'էլփոստ', 'էլհասցե'],
];

/** Matches anywhere in the name: `Contact Email`, `user_email`, `E-Mail-Adresse (privat)`. */
export const NAME_PARTS: readonly string[] = [
  ...['email', 'emailaddress', 'courriel', 'correo', 'correio', 'epost', 'eposta', 'sahkoposti', 'postaelettronica'],
  ...[
    'почт',
    'имейл',
    'имеил',
    'пошт',
    'поща',
    'ταχυδρομ',
    'דואל',
    'אימייל',
    'بريد',
    'ايميل',
    'إيميل',
    'ایمیل',
    '邮箱',
    '邮件',
  ],
  ...['郵箱', '郵件', '電郵', '信箱', 'メール', '이메일', 'อีเมล', 'ईमेल'],
];

/** As one of its words: `mail 1`, `Mail (work)`. */
export const WORDS: ReadonlySet<string> = new Set(['mail', 'mails', 'mejl', 'poczta', 'emel']);

/** The addresses of houses as well, so what the cells hold has to agree. */
export const WEAK_NAMES: ReadonlySet<string> = new Set([
  'address',
  'adresse',
  'contact',
  'user',
  'username',
  'login',
  'recipient',
  'to',
]);

/**
 * They name something about an address, not an address: `email_status`, `Email opt-in`, `mail sent at`, `mailing
 * address`.
 */
export const NOT_ADDRESSES: ReadonlySet<string> = new Set([
  ...[
    'status',
    'state',
    'verified',
    'valid',
    'validity',
    'validation',
    'result',
    'score',
    'quality',
    'type',
    'kind',
    'domain',
    'host',
  ],
  ...[
    'provider',
    'opt',
    'optin',
    'optout',
    'in',
    'out',
    'consent',
    'permission',
    'subscribed',
    'unsubscribed',
    'subscription',
  ],
  ...[
    'sent',
    'send',
    'opened',
    'opens',
    'clicked',
    'clicks',
    'bounced',
    'bounce',
    'bounces',
    'delivered',
    'count',
    'number',
    'date',
  ],
  ...[
    'at',
    'time',
    'last',
    'hash',
    'md5',
    'sha1',
    'sha256',
    'template',
    'subject',
    'body',
    'text',
    'format',
    'language',
    'source',
  ],
  ...[
    'confirmed',
    'is',
    'has',
    'reason',
    'marketing',
    'newsletter',
    'mailing',
    'name',
    'list',
    'campaign',
    'preference',
    'preferences',
  ],
]);

/** The addresses of someone else than the record is about, so that another column like it comes first. */
export const OTHERS_ADDRESSES: ReadonlySet<string> = new Set([
  ...['owner', 'assignee', 'assigned', 'agent', 'rep', 'created', 'creator', 'updated', 'modified', 'author', 'by'],
  ...['from', 'sender', 'reply', 'host', 'seller', 'vendor', 'support', 'manager', 'organizer', 'inviter', 'admin'],
]);
