//! What a connector says of itself.

use jackfield_model::Transport;
use jackfield_model::descriptor::{Ask, Descriptor, Exclusive, SecretAsk};
use jackfield_model::session::StartBudget;

use super::duration;
use crate::exports::connector;
use crate::imports::types;

impl From<types::Transport> for Transport {
    fn from(transport: types::Transport) -> Self {
        match transport {
            types::Transport::Socket => Self::Socket,
            types::Transport::Poll => Self::Poll,
            types::Transport::Webhook => Self::Webhook,
            types::Transport::Action => Self::Action,
        }
    }
}

impl From<Transport> for types::Transport {
    fn from(transport: Transport) -> Self {
        match transport {
            Transport::Socket => Self::Socket,
            Transport::Poll => Self::Poll,
            Transport::Webhook => Self::Webhook,
            Transport::Action => Self::Action,
        }
    }
}

impl From<connector::Ask> for Ask {
    fn from(ask: connector::Ask) -> Self {
        match ask {
            connector::Ask::Http(origin) => Self::Http(origin),
            connector::Ask::Socket(origin) => Self::Socket(origin),
            connector::Ask::Secret(connector::SecretAsk { name, help, required, to }) => {
                Self::Secret(SecretAsk { name, help, required, to })
            }
            connector::Ask::State(bytes) => Self::State(bytes),
            connector::Ask::Lease => Self::Lease,
            connector::Ask::Contacts => Self::Contacts,
        }
    }
}

impl From<connector::Descriptor> for Descriptor {
    fn from(descriptor: connector::Descriptor) -> Self {
        let connector::Exclusive { secrets, config } = descriptor.exclusive;
        let start_budget = descriptor.start_budget;
        Self {
            id: descriptor.id,
            version: descriptor.version,
            title: descriptor.title,
            summary: descriptor.summary,
            transports: descriptor.transports.into_iter().map(Into::into).collect(),
            config_schema: descriptor.config_schema,
            asks: descriptor.asks.into_iter().map(Into::into).collect(),
            exclusive: Exclusive { secrets, config },
            start_budget: start_budget
                .map(|connector::StartBudget { starts, window }| StartBudget { starts, window: duration(window) }),
            writes_checkpoint: descriptor.writes_checkpoint,
            reads_checkpoints: descriptor.reads_checkpoints,
            annotations: descriptor.annotations,
        }
    }
}
