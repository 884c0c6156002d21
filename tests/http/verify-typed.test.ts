/** Addresses as people and programs write them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let lab: Lab;
let owner: Member;

beforeAll(async () => {
  lab = await startLab();
  owner = await lab.member();
});
afterAll(() => lab.close());

describe('POST /v1/verify', () => {
  it.each([
    [' \u{200B}someone@good.com\u{A0}\r\n', 'good', null, 'pass'],
    ['someone @good.com', 'bad', 'someone@good.com', 'fail'],
    ['Someone <someone@good.com>', 'bad', 'someone@good.com', 'fail'],
    ['mailto:someone@good.com', 'bad', 'someone@good.com', 'fail'],
    ['someone@gmail,com', 'bad', 'someone@gmail.com', 'fail'],
    ['someone@gmail.com,', 'bad', 'someone@gmail.com', 'fail'],
    ['someone@gmailcom', 'bad', 'someone@gmail.com', 'fail'],
    ['someone@gmial.con', 'bad', 'someone@gmail.com', 'fail'],
    ['someone@@gmail.com,', 'bad', 'someone@gmail.com', 'fail'],
    // In NFC, the Greek question mark is a semicolon.
    ['me.\u{37E}@good.com', 'bad', null, 'fail'],
  ])('%j comes back as sent and is %s, with the suggestion %s', async (email, status, did_you_mean, result) => {
    const { json } = await owner.verify(email);
    expect(json).toMatchObject({ email, status, did_you_mean, checks: { syntax: { result } } });
    if (result === 'pass') expect(json.normalized_email).toBe('someone@good.com');
  });
});
