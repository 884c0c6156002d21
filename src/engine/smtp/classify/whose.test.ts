import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SmtpStage } from '../../evidence.ts';
import { type Classifier, createClassifier, loadClassifierData, type RuleReading } from '../classify.ts';
import { ECHOES } from './evaluation.ts';
import { compileLexicon, lexiconEntries, loadLexicon } from './lexicon.ts';

const whole = createClassifier();
const rules = createClassifier({ ...loadClassifierData(), model: null });
const BAD = ['mailbox_not_found', 'mailbox_full', 'mailbox_disabled', 'relay_denied'];

/** `"550 5.1.1 text"`, read at RCPT unless another stage is given. */
function read(
  line: string,
  { classify }: Pick<Classifier, 'classify'> = whole,
  stage: SmtpStage = 'rcpt',
): RuleReading {
  const [, code, enhanced, text] = /^(\d{3}) ?(?:([245]\.\d+\.\d+) ?)?(.*)$/s.exec(line)!;
  const reply = { code: Number(code), enhanced: enhanced ?? null, text: text ?? '' };
  return classify({ stage, reply, operator: null, echoes: ECHOES });
}

/** Every combination of these parts, joined by spaces. */
const combine = (...parts: readonly (readonly string[])[]): string[] =>
  parts.reduce<string[]>((all, part) => all.flatMap((one) => part.map((two) => `${one} ${two}`.trim())), ['']);
const findings = (texts: readonly string[]): string[] =>
  texts.filter((text) => BAD.includes(read(text).finding)).map((text) => `${text}: ${read(text).rule}`);

describe('a code does not speak for words that say something else', () => {
  const codes = ['550 5.1.0', '550 5.1.1', '553 5.1.10', '550 5.1.2', '550 5.2.1', '550'];

  const demands: Readonly<Record<string, { nouns: readonly string[]; demands: readonly string[] }>> = {
    en: {
      nouns: [
        'Sender',
        'The envelope sender',
        "Sender's domain",
        'Return path',
        'From address',
        'A valid sender domain',
        'Your domain',
        'You',
        'Senders',
        'Hosts',
        '<verify@probe.example.net>',
      ],
      demands: [
        'required',
        'is required',
        'must exist',
        'must be registered',
        'must point to a working mailbox',
        'needs an MX record',
        'has to exist in DNS',
        'requires a verified account',
        'need to solve a challenge',
        'needs prior registration of the address',
      ],
    },
    de: {
      nouns: ['Gültiger Absender', 'Eine gültige Absenderadresse', 'Absenderdomain', 'Ihre Adresse'],
      demands: ['erforderlich', 'wird benötigt', 'muss existieren', 'muss ein Postfach haben', 'braucht ein Konto'],
    },
    fr: {
      nouns: ["Une adresse d'expéditeur valide", "L'expéditeur", "Le domaine de l'expéditeur", 'Votre adresse'],
      demands: ['est requise', 'doit exister', 'doit avoir un compte', 'est nécessaire', 'est obligatoire'],
    },
    es: {
      nouns: ['Un dominio de remitente válido', 'El remitente', 'Su dirección', 'La dirección del remitente'],
      demands: ['es necesario', 'debe existir', 'requiere una cuenta', 'es obligatoria', 'tiene que existir'],
    },
    it: {
      nouns: ['Un mittente valido', 'Il dominio del mittente', "L'indirizzo del mittente"],
      demands: ['è necessario', 'deve esistere', 'richiede un account', 'è obbligatorio'],
    },
    nl: {
      nouns: ['Geldige afzender', 'Het domein van de afzender', 'Uw adres'],
      demands: ['vereist', 'moet bestaan', 'is verplicht', 'moet een account hebben'],
    },
    pt: {
      nouns: ['Um remetente válido', 'O domínio do remetente', 'Seu endereço'],
      demands: ['é necessário', 'deve existir', 'requer uma conta', 'é obrigatório'],
    },
    pl: {
      nouns: ['Prawidłowy nadawca', 'Adres nadawcy', 'Domena nadawcy'],
      demands: ['jest wymagany', 'musi istnieć', 'wymaga konta'],
    },
  };
  it.each(Object.entries(demands))('demands on the sender in %s', (_, { nouns, demands: said }) => {
    expect(findings(combine(codes, nouns, said))).toEqual([]);
  });

  it('demands that come first', () => {
    for (const text of [
      'Se requiere un dominio de remitente válido',
      'È necessario un mittente valido',
      'Il faut une adresse valide',
      'Es necesario un remitente válido',
      'Required: a valid sender domain',
      'example.com requires a valid sender domain',
      'Need a resolvable sender',
      'Must be sent by a user of example.com',
      'We require an account with us',
    ])
      expect(findings(combine(codes, [text])), text).toEqual([]);
  });

  it('closed lists and groups, and what is for members, guests and subscribers', () => {
    const lists = ['list', 'mailing list', 'distribution list', 'group', 'Newsletter', 'This system', 'Verteiler'];
    const closed = [
      'closed',
      'is closed',
      'is closed for non members',
      'has been closed to outsiders',
      'is disabled for guests',
      'members only',
      'accepts posts from members only',
      'is restricted to subscribers',
      'requires a subscription',
    ];
    expect(findings(combine(codes, lists, closed))).toEqual([]);
    const others = [
      'You need to be subscribed',
      'You are not subscribed',
      'not subscribed',
      'you are not a subscriber',
      'you are not a member of this list',
      'only members may post',
      'non-members may not write to this address',
      'guests are not allowed',
      'subscription expired',
      'Subscription of the sender is required',
      'Local user only',
      'Nur für Mitglieder',
      'Réservé aux abonnés uniquement',
      'Solo para miembros',
      'The recipient has restricted who can send to this mailbox',
      'Recipient requires confirmation by the sender',
      'Write from an address that we know',
      'Contact has to be made via our web form',
      'group closed to external senders',
      'posting is restricted to subscribers of this list',
      'this distribution group takes mail from staff only',
      'guest accounts may not write here',
      'trial membership expired',
      'visitors cannot deliver to this server',
    ];
    expect(findings(combine(codes, others))).toEqual([]);
  });

  it('limits on unknown recipients, quotas that are not the mailbox’s, bounces to several recipients', () => {
    const whom = ['unknown recipient', 'invalid recipients', 'failed recipients', 'nonexistent users', 'bad addresses'];
    const limits = [
      ...combine(['exceeded'], whom, ['count limit', 'limit']),
      ...combine(['too many', 'limit on', 'maximum number of'], whom, ['', 'exceeded', 'reached']).filter(
        (text) => !/^limit on .*(?:s|t)$/.test(text),
      ),
      ...combine(whom, ['limit exceeded', 'limit reached']),
      'maximum of invalid recipients per session exceeded',
      'bad recipient threshold reached',
    ];
    expect(findings(combine([...codes, '550 5.7.1', '554'], limits))).toEqual([]);
    const quotas = ['throttling', 'sending', 'message', 'hourly', 'daily', 'connection', 'bandwidth', 'API', 'sender'];
    const used = ['quota exceeded', 'quota reached', 'quota is used up', 'quota is full'];
    const around = ['', '<someone@example.com>: Recipient address rejected:', 'Your'];
    expect(findings(combine(['550 5.2.2', '552 5.2.2', '554 5.7.1', '552'], around, quotas, used))).toEqual([]);
    const behind = [
      'Quota SMTP journalier dépassé',
      'Quota journalier dépassé',
      'Cuota diaria de envío excedida',
      'Quota giornaliera superata',
      'Quota SMTP diária excedida',
      'Kontingent SMTP überschritten',
      'SMTP credits exceeded',
      'SMTP tickets exceeded',
    ];
    expect(findings(combine(['550 5.2.2', '552 5.7.1', '552'], behind))).toEqual([]);
    const bounces = [
      'Multi-recipient bounce',
      'Backscatter protection',
      'Backscatter: we never sent that message',
      'bounces are not accepted',
      'bounce refused',
      'Unsolicited bounce',
      'NDR to more than one recipient refused',
      'Multiple recipients are not allowed for a null sender',
    ];
    expect(findings(combine(codes, around.slice(0, 2), bounces))).toEqual([]);
  });

  it('relaying denied to our address or for want of a log-in', () => {
    for (const text of ['[192.0.2.25]', 'for 192.0.2.25', '- please log in', 'for your IP', 'without authentication'])
      expect(
        findings(combine(['550', '550 5.7.1', '554 5.7.1'], ['Relaying denied', 'Relay access denied'], [text])),
      ).toEqual([]);
  });

  it('500 to 503', () =>
    expect(
      findings(
        combine(['500', '501', '502', '503'], ['5.1.0', '5.1.1', '5.2.1'], ['address rejected', 'recipient failed']),
      ),
    ).toEqual([]));

  it('a server that asks to wait greylists, whatever else it refuses meanwhile', () => {
    for (const text of ['Your message has been temporarily rejected', 'Rejected', 'Message refused'])
      for (const wait of ['Please try again later', 'Try again in 5 minutes'])
        for (const code of ['450 4.7.1', '451 4.7.1', '451 4.7.0'])
          expect([text, read(`${code} ${text}. ${wait}`).finding]).toEqual([text, 'greylisted']);
  });

  it('a code for commands, and what is missing only among users of a kind', () => {
    const commands = ['550 5.5.1', '550 5.5.4', '553 5.5.2', '554 5.5.4'];
    expect(findings(combine(commands, ['invalid domain name', 'unknown domain', 'Domain does not exist']))).toEqual([]);
    const kinds = ['registered gateway', 'valid billing portal', 'validated bridge'];
    expect(findings(combine(['550', '550 5.7.1', '554'], ['<someone@example.com> is not a'], kinds, ['user']))).toEqual(
      [],
    );
  });

  it('letters that are a negation in another language than the noun', () => {
    const nouns = ['account', 'user', 'mailbox', 'inbox', 'address'];
    const said = combine(['550', '550 5.1.1', '551'], ['nu', 'ni', 'ne', 'nem', 'pas'], nouns);
    expect(said.filter((text) => read(text, rules).rule === 'recipient.unknown')).toEqual([]);
    for (const text of [
      'No user',
      'Not a user here',
      'usuario no existe',
      'utilizatorul nu exista',
      'no existe usuario',
    ])
      expect(read(`550 5.1.1 ${text}`, rules).finding, text).toBe('mailbox_not_found');
  });

  // What the model makes of made-up words is measured with it: at most one of 300 may be bad.
  it('words that nobody knows, as far as rules decide', () => {
    const nouns = [
      '',
      'account',
      'user',
      'mailbox',
      'recipient address',
      '<someone@example.com>',
      'someone@example.com',
    ];
    const word = fc
      .stringMatching(/^[bdfgjklmpqrtvz][aeiou][bdfgjklmpqrtvz][aeiou][bdgjkpvxz]{1,3}$/)
      .filter((one) => !lexicon.fits(one));
    const lexicon = compileLexicon(lexiconEntries(loadLexicon()));
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.constantFrom(...nouns), word, word, (code, noun, one, two) => {
        expect(BAD).not.toContain(read(`${code} ${noun} ${one} ${two}`, rules).finding);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('what a mailbox does not take', () => {
  const mailboxes = ['This address', '<someone@example.com>', 'The mailbox', 'Recipient'];
  const nothing = [
    'no longer accepts mail',
    'cannot receive messages',
    'is not accepting mail',
    'does not accept email',
  ];

  it('from anybody is a disabled mailbox', () => {
    for (const text of combine(['550', '550 5.2.1'], mailboxes, nothing))
      expect(read(text).finding, text).toBe('mailbox_disabled');
  });

  it('from somebody, now, or but for something is a refusal', () => {
    const but = [
      'from you',
      'from strangers',
      'from your domain',
      'at this time',
      'but from members only',
      ', only send',
    ];
    expect(findings(combine(['550', '550 5.2.1'], mailboxes, nothing, but))).toEqual([]);
  });
});

describe('what the server itself was refused is not about us', () => {
  const behind = [
    'undeliverable address: connect to 10.0.0.5[10.0.0.5]:25: Connection refused',
    'undeliverable address: connect to mail.internal.example[172.16.0.4]:24: Connection refused',
    'unverified address: host 10.0.0.5[10.0.0.5] refused to talk to me: 421 4.3.2 Service not available',
    'undeliverable address: connect to /var/run/dovecot/lmtp: Connection refused',
    'MySQL server has refused connection',
    'Connection refused by LDAP server',
    'policy service connection refused',
    'milter: connection refused',
    'database access denied',
    'Could not authenticate to the directory server',
    '10.0.0.5 [10.0.0.5] : Connection refused Could not complete recipient verify callout',
    'connection to 10.0.0.7 rejected',
    'the next hop refused the connection',
    'connect error 111 for someone@example.com',
    'connection failed: errno 10061',
    'socket error 10060 for someone@example.com',
    'socket error 10060 while connecting to the mailbox store',
    'backend returned error 421 for someone@example.com',
    'connection to backend failed (111)',
  ];
  it.each(['450 4.1.1', '450', '451 4.3.0', '421 4.4.2', '454 4.3.0', '550 5.1.1', '550'])('%s', (code) => {
    const around = ['', '<someone@example.com>: Recipient address rejected:'];
    for (const text of combine([code], around, behind)) {
      const { finding, meaning } = read(text);
      expect(meaning, text).not.toBe('us_ip');
      expect(BAD, text).not.toContain(finding);
      if (code < '5') expect(finding, text).toBe('smtp_temporary_failure');
    }
  });

  it('what names our address is', () => {
    for (const text of [
      'connection refused from [192.0.2.25]',
      'Client host [192.0.2.25] blocked',
      'your IP is blocked: connection refused',
      'Connection from 192.0.2.25 refused by policy server',
    ])
      expect(read(`450 4.7.1 ${text}`).finding, text).toBe('smtp_blocked');
  });
});

describe('a fault', () => {
  const faults = [
    'SMTP service not available',
    'Service unavailable',
    'synchronization error',
    'DNS failure',
    'AUTH FAILED',
  ];

  it('in a 5xx before RCPT is a refusal of the client, in a 4xx a temporary failure', () => {
    for (const stage of ['connect', 'ehlo', 'mail'] as const) {
      for (const text of combine(['550', '554', '553 5.3.0'], faults))
        expect(read(text, whole, stage).finding, `${stage}: ${text}`).toBe('smtp_blocked');
      for (const text of combine(['421', '421 4.3.2'], faults.slice(0, 4)))
        expect(read(text, whole, stage).finding, `${stage}: ${text}`).toBe('smtp_temporary_failure');
    }
  });

  it('that passes is temporary: a server that is busy does not greylist, one that is misconfigured rejects nobody', () => {
    const busy = ['Server too busy', 'Server load too high', 'The mail server is overloaded', 'Our system is busy'];
    const broken = [
      '451 4.3.5 <verify@probe.example.net>: Sender address rejected: Server configuration error',
      '454 4.7.0 Temporary authentication failure',
      '451 A transient error occurred when checking the SPF record',
    ];
    for (const text of [...combine(['450', '451', '451 4.7.1'], busy, [', try again later']), ...broken])
      expect(read(text).finding, text).toBe('smtp_temporary_failure');
  });
});

describe('languages that the project has few replies in', () => {
  const dead: Readonly<Record<string, readonly string[]>> = {
    ar: ['المستخدم غير موجود', 'صندوق البريد ممتلئ', 'الحساب معطل'],
    id: ['alamat penerima tidak ditemukan', 'kotak surat penuh', 'akun pengguna dinonaktifkan'],
    vi: ['hộp thư không tồn tại', 'hộp thư của người nhận đã đầy', 'tài khoản đã bị xóa'],
  };
  const alive: Readonly<Record<string, readonly string[]>> = {
    ar: ['المرسل غير موجود', 'عنوان ip محظور', 'تم رفض الرسالة'],
    id: ['pengirim tidak ditemukan', 'alamat ip anda diblokir', 'terlalu banyak koneksi', 'pesan ditolak'],
    vi: ['người gửi không tồn tại', 'địa chỉ ip của bạn bị chặn', 'quá nhiều kết nối', 'thư của bạn bị từ chối'],
  };

  it.each(Object.keys(dead))('%s', (language) => {
    for (const text of combine(['550'], dead[language] ?? [])) expect(BAD, text).toContain(read(text).finding);
    expect(findings(combine(['550', '550 5.1.1', '554 5.7.1'], alive[language] ?? []))).toEqual([]);
  });

  it('a missing sender in languages without a dictionary', () => {
    const senders = ['odosielateľ neexistuje', 'pošiljatelj ne obstaja', 'pošiljatelj ne postoji', 'saatja puudub'];
    const texts = [...senders, 'подателят не съществува', 'пошиљалац не постоји', 'испраќачот не постои'];
    expect(findings(combine(['550', '550 5.1.1', '553 5.1.0'], texts))).toEqual([]);
  });
});
