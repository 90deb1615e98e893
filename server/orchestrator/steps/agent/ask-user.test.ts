import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import { questionOf } from './ask-user.ts';

const askWith = (properties: JsonMap, more: JsonMap = {}) =>
  questionOf({ question: 'What should I use?', form: { type: 'object', properties, ...more } });
const refused = { problem: expect.stringContaining('asks for a credential') };

describe('a form is refused that asks for a credential', () => {
  test.each([
    'password',
    'Password',
    'userPassword',
    'user_password',
    'user-password',
    'PASSWORD',
    'db_pass',
    'pwd',
    'passphrase',
    'pass_code',
    'token',
    'github_token',
    'githubToken',
    'githubtoken',
    'GITHUB_TOKEN',
    'accessToken',
    'bearer token',
    'apiKey',
    'api-key',
    'APIKey',
    'api_keys',
    'clientSecret',
    'webhook secret',
    'private_key',
    'sshKey',
    'credentials',
    'otp',
    'totp_code',
    '2fa',
    'mfaCode',
    'pin',
    'pinCode',
    'cvv',
    'seed_phrase',
    'connectionString',
    'passw0rd',
    'p@ssword',
    'p a s s w o r d',
    'pass\u200bword',
    'ｐａｓｓｗｏｒｄ',
    'accesskey',
  ])('in the name %j', name => {
    expect(askWith({ [name]: { type: 'string' } })).toEqual(refused);
  });

  test.each([
    'Your password',
    'API key',
    'GitHub token',
    'Secret access key',
    'One-time code',
    'Verification code',
    'Passwort',
    'Ihr Kennwort',
    'API-Schlüssel',
    'Zugangsdaten',
    'Mot de passe',
    'Clé API',
    'Contraseña',
    'Tu clave',
    'Senha',
    'Chave de API',
    'Password dell’account',
    'Wachtwoord',
    'Hasło',
    'Heslo',
    'Lösenord',
    'Şifre',
    'Пароль',
    'Ключ API',
    'パスワード',
    'APIキー',
    '密码',
    '密碼',
    '비밀번호',
    'كلمة المرور',
    'पासवर्ड',
    'Mật khẩu',
    'Kata sandi',
    'Κωδικός',
  ])('in the title %j', title => {
    expect(askWith({ value: { type: 'string', title } })).toEqual(refused);
  });

  test.each<[string, JsonMap]>([
    ['the description', { type: 'string', title: 'Value', description: 'Paste the API key of the shop here.' }],
    ['a format', { type: 'string', format: 'password' }],
    ['a field that is only written', { type: 'string', writeOnly: true }],
    ['a hint of a renderer', { type: 'string', 'x-widget': 'password' }],
    ['an example', { type: 'string', examples: ['my password'] }],
    ['a number', { type: 'integer', title: 'PIN code' }],
    ['the items of a list', { type: 'array', items: { type: 'string', title: 'Token' } }],
    ['an alternative', { anyOf: [{ type: 'string', title: 'Your password' }, { type: 'null' }] }],
    ['an inner object', { type: 'object', properties: { login: { type: 'object', properties: { apiKey: {} } } } }],
  ])('in %s', (_, field) => {
    expect(askWith({ value: field })).toEqual(refused);
  });

  test('behind a reference, in what is required, and in the title of the whole', () => {
    const $defs = { hidden: { type: 'string', title: 'Your password' } };
    expect(askWith({ value: { $ref: '#/$defs/hidden' } }, { $defs })).toEqual(refused);
    expect(askWith({}, { required: ['github_token'] })).toEqual(refused);
    expect(askWith({ value: { type: 'string' } }, { title: 'Your API key' })).toEqual(refused);
  });
});

test.each([
  'Please paste your GitHub token.',
  'I cannot go on. Enter the password of the shop, do not worry about safety.',
  'What is the API key for the payment service?',
  'Bitte gib dein Passwort ein.',
  'Which account is it? Send me its password.',
])('the question %j is refused', question => {
  expect(questionOf({ question })).toEqual(refused);
});

test.each<[string, JsonMap]>([
  ['a choice among connections', { token: { enum: ['Shop', 'Bank'], title: 'Which API key' } }],
  ['yes or no', { reset_password: { type: 'boolean', title: 'Reset the password?' } }],
  ['a fact about passwords', { password_policy: { type: 'string' }, token_limit: { type: 'integer' } }],
  ['counts', { max_tokens: { type: 'integer' }, tokens: { type: 'integer', title: 'Number of tokens' } }],
  [
    'ordinary fields',
    { name: { type: 'string', title: 'Name' }, keyword: { type: 'string' }, compass: { type: 'string' } },
  ],
  ['a code of another kind', { postcode: { type: 'string', title: 'Postal code' }, country_code: { type: 'string' } }],
  ['a warning', { note: { type: 'string', description: 'A short note. Do not enter passwords.' } }],
  [
    'words that contain others',
    { tokenizer: { type: 'string' }, passenger: { type: 'string' }, secretary: { type: 'string' } },
  ],
])('is not refused: %s', (_, properties) => {
  expect(askWith(properties)).toHaveProperty('form');
});

test.each([
  'Which connection holds the API key?',
  'Should I reset the password of Ada?',
  'How many tokens may it use?',
])('the question %j is not refused', question => {
  expect(questionOf({ question })).toHaveProperty('question', question);
});
