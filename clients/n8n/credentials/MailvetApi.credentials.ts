import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, INodeProperties } from 'n8n-workflow';
import { README } from '../nodes/fields';

export class MailvetApi implements ICredentialType {
  name = 'mailvetApi';
  displayName = 'Mailvet API';
  icon = { light: 'file:../icons/mailvet.svg', dark: 'file:../icons/mailvet.dark.svg' } as const;
  documentationUrl = README;
  properties: INodeProperties[] = [
    {
      displayName: 'URL',
      name: 'url',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://verify.example.net',
      description: 'Address of your Mailvet service',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      placeholder: 'mv_live_…',
      description: 'A live or test key of your account. The trigger needs the scope "webhooks".',
    },
  ];
  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };
  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.url.replace(/(\\/v1)?\\/*$/, "")}}', url: '/v1/usage' },
  };
}
