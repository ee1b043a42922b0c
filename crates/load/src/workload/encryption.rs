//! The parameters of TLS on flows between agents.
//!
//! A flow's header travels as it is, and TLS begins behind it. The certificates are the agents'
//! own. Each end checks that the other has the key of what it shows, and nothing else: the header
//! has shown that both ends are of the trial.

use clap::Args;
use hopbench_model::{Fault, Problem};
use serde::{Deserialize, Serialize};

use crate::worker::secured::{self, TlsClient, TlsClientSettings, TlsClients, TlsServer};
use crate::worker::workers::Context;

/// Whether and how flows speak TLS.
// `TlsParams` declares three of these flags, too. They cannot be a struct of their own. Parameters
// deny unknown fields, and serde takes all fields for unknown where flattened structs flatten more.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
pub(crate) struct FlowTls {
    /// Encrypt the connections with TLS
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tls: bool,
    /// The only version of TLS to offer: 1.2 or 1.3 [default: both]
    #[arg(long, value_name = "VERSION")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_version: Option<String>,
    /// The only cipher to offer: aes-128-gcm, aes-256-gcm or chacha20-poly1305 [default: all]
    #[arg(long, value_name = "CIPHER")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_cipher: Option<String>,
    /// A full handshake for every connection
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    no_tls_resumption: bool,
    /// Both ends show a certificate, as between the proxies of a mesh
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    tls_mutual: bool,
}

impl FlowTls {
    /// Whether TLS is spoken.
    pub(crate) fn is_on(&self) -> bool {
        self.tls
    }

    fn settings(&self) -> TlsClientSettings<'_> {
        TlsClientSettings {
            name: "hopbench",
            authorities: None,
            trusts_anybody: true,
            identity: None,
            version: self.tls_version.as_deref(),
            cipher: self.tls_cipher.as_deref(),
            resumes: !self.no_tls_resumption,
            protocols: &[],
            is_first_needed: false,
        }
    }

    /// Everything that is wrong: what TLS cannot do, or what nobody could do without it.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let settings = self.settings();
        if self.tls {
            return settings.problems();
        }
        let mutual = self.tls_mutual.then_some(("--tls-mutual", "true"));
        let without = |(flag, found): (&str, &str)| {
            Problem::new(flag, found, "--tls beside it: nothing is encrypted without it")
        };
        settings.given().chain(mutual).map(without).collect()
    }

    /// Bytes of one receive, where so many would do without TLS.
    pub(crate) fn receive_bytes(&self, plain: usize) -> usize {
        if self.tls { secured::most_on_wire(plain).max(secured::RECEIVE_BYTES) } else { plain }
    }

    /// The clients' ends of a trial's flows; none where TLS is not spoken.
    ///
    /// # Errors
    /// Everything that is wrong with the parameters.
    pub(crate) fn clients(&self, context: &Context) -> Result<TlsClients, Fault> {
        let client = if self.tls { Some(self.client(context)?) } else { None };
        Ok(TlsClients::of(client.as_ref(), &context.job))
    }

    fn client(&self, context: &Context) -> Result<TlsClient, Fault> {
        let client = self.settings().client();
        let client = client.map_err(|problems| Fault::from_problems(&problems))?;
        let client = client.noting(&context.sockets);
        if !self.tls_mutual {
            return Ok(client);
        }
        let certificate = context.certificate.clone().ok_or_else(no_certificate)?;
        Ok(client.showing(certificate))
    }

    /// The server's end of flows; `None`: TLS is not spoken.
    ///
    /// # Errors
    /// The agent has no certificate.
    pub(crate) fn server(&self, context: &Context) -> Result<Option<TlsServer>, Fault> {
        if !self.tls {
            return Ok(None);
        }
        let server = TlsServer {
            config: context.tls.clone().ok_or_else(no_certificate)?,
            handshake_ns: context.job.timing.timeout_ns,
            most_plain_bytes: secured::MOST_PLAIN,
        };
        if !self.tls_mutual {
            return Ok(Some(server));
        }
        let asking = server.asking();
        asking.map(Some).map_err(|e| Fault::environment(format!("TLS cannot ask clients: {e}")))
    }
}

fn no_certificate() -> Fault {
    Fault::environment("this agent could not make a certificate for TLS")
}
