import { describe, expect, it } from 'vitest';
import { parseAddress } from './parse.ts';
import { didYouMean, didYouMeanText, type SuggestionData } from './suggest.ts';

const suggestDomains = [
  'gmail.com',
  'yahoo.com',
  'hotmail.com',
  'outlook.com',
  'icloud.com',
  'aol.com',
  'live.com',
  'msn.com',
  'gmx.de',
  'web.de',
  'gmx.net',
  'mail.ru',
  'yandex.ru',
  'qq.com',
  '163.com',
  'protonmail.com',
  'proton.me',
  'me.com',
  'yahoo.co.uk',
  'hotmail.co.uk',
  'hotmail.fr',
  'orange.fr',
  'wanadoo.fr',
  'free.fr',
  'laposte.net',
  'libero.it',
  'comcast.net',
  'verizon.net',
  'att.net',
  'sbcglobal.net',
  'bellsouth.net',
  'btinternet.com',
  'googlemail.com',
  't-online.de',
  'freenet.de',
  'seznam.cz',
  'naver.com',
  'daum.net',
  'zoho.com',
  'fastmail.com',
  'mail.com',
  'uol.com.br',
  'bol.com.br',
  'terra.com.br',
  'rediffmail.com',
  'rambler.ru',
  'bigpond.com',
  'charter.net',
  'cox.net',
];
/** Only the targets are known domains, so that the rules must work without that guard. */
const bare: SuggestionData = { suggestDomains, isKnownDomain: (domain) => suggestDomains.includes(domain) };

const suggestion = (domain: string, lists = bare): string | null => didYouMeanText(`jane@${domain}`, lists);

const SLIPS: readonly (readonly [string, string])[] = [
  ...['gmial.com', 'gamil.com', 'gmai.com', 'gmil.com', 'gmaill.com', 'ggmail.com', 'gnail.com', 'gmaul.com'].map(
    to('gmail.com'),
  ),
  ...['gmsil.com', 'gmall.com', 'mgail.com', 'gmail.con', 'gmail.cmo', 'gmail.co', 'gmail.cm', 'gmail.om'].map(
    to('gmail.com'),
  ),
  ...['gmail.comm', 'gmail.vom', 'gmail.cpm', 'gmial.con', 'gmail.ocm', 'gmailc.om', 'gmaik.com'].map(to('gmail.com')),
  ...['yaho.com', 'yahooo.com', 'yhaoo.com', 'yahho.com', 'yahoo.cm', 'yaoo.com'].map(to('yahoo.com')),
  ...['hotmial.com', 'hotmal.com', 'hotmil.com', 'hotmaill.com', 'hotmail.co', 'hotmail.con', 'homail.com'].map(
    to('hotmail.com'),
  ),
  ...['hormail.com', 'htmail.com', 'hotnail.com', 'ohtmail.com', 'hotmail.cmo'].map(to('hotmail.com')),
  ...['outlok.com', 'outloook.com', 'oulook.com', 'outlook.co', 'outllook.com', 'otulook.com'].map(to('outlook.com')),
  ...['iclod.com', 'icluod.com', 'icloud.con', 'icoud.com', 'icloud.co'].map(to('icloud.com')),
  ...['aol.con', 'aol.cmo'].map(to('aol.com')),
  ...['gmx.ed', 'gmx.d'].map(to('gmx.de')),
  ...['protonmial.com', 'protonmai.com', 'protonnmail.com', 'protnmial.com'].map(to('protonmail.com')),
  ...['yahoo.couk', 'yaho.co.uk', 'yahoo.co.ku'].map(to('yahoo.co.uk')),
  ...['comcas.net', 'comcast.ne', 'comcst.net'].map(to('comcast.net')),
  ...['googlemial.com', 'gogglemail.com', 'goglemail.com'].map(to('googlemail.com')),
  ['sbcgobal.net', 'sbcglobal.net'],
  ['yandex.rru', 'yandex.ru'],
  ...['gmailcom', 'gmailc.om', 'gmai.lcom', 'gmial.co'].map(to('gmail.com')),
  ...['yahoocouk', 'yahooco.uk', 'yahoo.c.ouk'].map(to('yahoo.co.uk')),
  ...['jotmail.com', 'hotmial.cm', 'hot5mail.com', 'hotmmial.com'].map(to('hotmail.com')),
  ...['lvie.com', 'liev.com', 'livve.com', 'live.cm'].map(to('live.com')),
  ...['aoll.com', 'aol.om'].map(to('aol.com')),
];

function to(target: string) {
  return (slip: string): readonly [string, string] => [slip, target];
}

/** Real names similar to a provider's: other providers, country variants, companies, words. */
const LOOK_ALIKES = [
  'yahoo.com.br',
  'yahoo.fr',
  'yahoo.co.jp',
  'yahoo.de',
  'ymail.com',
  'y7mail.com',
  'yahoo.com.ar',
  'yahoo.ca',
  'hotmail.de',
  'hotmail.it',
  'hotmail.es',
  'hotmail.com.br',
  'outlook.de',
  'outlook.fr',
  'outlook.com.br',
  'live.fr',
  'email.com',
  'fmail.com',
  'hmail.com',
  'imail.com',
  'jmail.com',
  'tmail.com',
  'umail.com',
  'vmail.com',
  'zmail.com',
  'mail.de',
  'mail.fr',
  'mail.co',
  'mail.bg',
  'email.cz',
  'post.cz',
  'email.de',
  'emails.com',
  'webmail.com',
  'mailo.com',
  'gmx.at',
  'gmx.ch',
  'gmx.com',
  'gmx.fr',
  'gmx.co.uk',
  'gmx.us',
  'web.fr',
  'web.com',
  'webs.de',
  'wab.de',
  'wob.de',
  'aim.com',
  'aol.de',
  'aol.fr',
  'aol.co.uk',
  'all.com',
  'ao.com',
  'aon.at',
  'live.nl',
  'live.de',
  'life.com',
  'like.com',
  'msn.cn',
  'man.com',
  'mac.com',
  'me.co',
  'ne.com',
  'mn.com',
  'cloud.com',
  'clouds.com',
  'gail.com',
  'gal.com',
  'mail.ee',
  'mail.rs',
  'mail.ua',
  'ya.ru',
  'yandex.com',
  'yandex.by',
  'yandex.kz',
  'yandex.ua',
  'ramblers.ru',
  'qq.cn',
  '126.com',
  '139.com',
  '189.cn',
  '164.com',
  'proton.com',
  'protons.me',
  'pm.me',
  'we.com',
  'mme.com',
  'range.fr',
  'grange.fr',
  'oranges.fr',
  'orange.com',
  'orange.es',
  'orange.pl',
  'fred.fr',
  'freee.com',
  'tree.fr',
  'poste.it',
  'poste.net',
  'libera.it',
  'liberi.it',
  'libero.com',
  'horizon.net',
  'att.com',
  'at.net',
  'attn.net',
  't-online.hu',
  'online.de',
  'freenet.com',
  'never.com',
  'nader.com',
  'daum.com',
  'zoho.eu',
  'zoo.com',
  'zohocorp.com',
  'fastmail.fm',
  'fastmails.com',
  'eastmail.com',
  'uol.com',
  'bol.com',
  'terra.cl',
  'terra.es',
  'terras.com.br',
  'rambler.com',
  'chatter.com',
  'charters.net',
  'coxs.net',
  'box.net',
  'fox.net',
  'google.com',
  'googlemail.de',
  'outlooks.com',
  'outlook-mail.com',
  'hotmail1.com',
  'gmail2.com',
  'g-mail.com',
  'hotmails.com',
  'yahoos.com',
  'wahoo.com',
  'hallmail.com',
  'coldmail.com',
  'ballmail.com',
  'rocketmail.com',
  'mailbox.org',
  'posteo.de',
  'tuta.io',
  'hey.com',
  'naver.co.jp',
  'navel.co',
  'tahoo.com',
  'mahoo.com',
  'gmail.example.com',
  'mail.gmail.io',
  'example.com',
  'bahoo.com',
];

describe('didYouMean', () => {
  it.each(SLIPS)('%s → %s', (slip, target) => {
    expect(suggestion(slip)).toBe(`jane@${target}`);
  });

  it('has no false positives, even without a list of known domains', () => {
    const wrong = LOOK_ALIKES.filter((domain) => suggestion(domain) !== null);
    expect(LOOK_ALIKES.length).toBeGreaterThan(140);
    expect(wrong).toEqual([]);
  });

  it('never corrects a known domain', () => {
    const all: SuggestionData = { suggestDomains, isKnownDomain: () => true };
    for (const [slip] of SLIPS) if (slip.includes('.')) expect(suggestion(slip, all)).toBeNull();
  });

  it('never corrects a target, whatever the list of known domains says', () => {
    const none: SuggestionData = { suggestDomains, isKnownDomain: () => false };
    for (const domain of suggestDomains) expect(suggestion(domain, none)).toBeNull();
  });

  it('keeps the local part as sent and is deterministic', () => {
    const parsed = parseAddress('Jane.Doe+News@GMIAL.com');
    if (!parsed.ok) throw new Error(parsed.error);
    expect(didYouMean(parsed.address, bare)).toBe('Jane.Doe+News@gmail.com');
    expect(didYouMean(parsed.address, bare)).toBe('Jane.Doe+News@gmail.com');
  });

  it('prefers the nearest target, then the most used one', () => {
    const lists = { suggestDomains: ['protonmaat.com', 'protonmail.com'], isKnownDomain: () => false };
    expect(suggestion('protonmai.com', lists)).toBe('jane@protonmail.com');
    const twins = { suggestDomains: ['hotmaio.com', 'hotmaip.com'], isKnownDomain: () => false };
    expect(suggestion('hotmai.com', twins)).toBe('jane@hotmaio.com');
  });

  it('suggests nothing for faults other than an unknown TLD', () => {
    for (const text of ['', 'jane', 'jane@', '@gmial.com', 'jane@gmial', 'jane..doe@gmial.com', 'jane@gmial.test']) {
      expect(didYouMeanText(text, bare)).toBeNull();
    }
  });
});
