// What `import 'mailvet'` and `require('mailvet')` find.
throw new Error(
  'The package mailvet is the service and its command. The library is @mailvet/engine, with the same createVerifier; ' +
    'the client of the HTTP API is @mailvet/client.',
);
