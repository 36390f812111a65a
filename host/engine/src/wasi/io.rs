//! `wasi:io`: wasmtime's own operations on the resource table, each one counted.
//!
//! The only streams in the table are ours (`stdio`), so its asynchronous write stream is never reached.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable, StreamError, StreamResult};
use wasmtime_wasi_io::bindings::wasi::io::error::{self, HostError};
use wasmtime_wasi_io::bindings::wasi::io::poll::{self, HostPollable};
use wasmtime_wasi_io::bindings::wasi::io::streams::{self, HostInputStream, HostOutputStream};

use super::WasiView;

type Input = Resource<DynInputStream>;
type Output = Resource<DynOutputStream>;

impl WasiView<'_> {
    fn counted(&mut self) -> StreamResult<()> {
        self.call.count().map_err(|stop| StreamError::Trap(stop.into()))
    }
}

impl error::Host for WasiView<'_> {}

impl HostError for WasiView<'_> {
    fn to_debug_string(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<String> {
        self.call.count()?;
        // No error of ours carries more than its own text; still, none of the host's is shown.
        self.table.get(&error)?;
        Ok("i/o error".to_owned())
    }

    fn drop(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<()> {
        HostError::drop(self.table, error)
    }
}

impl poll::Host for WasiView<'_> {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        self.call.count()?;
        poll::Host::poll(self.table, pollables).await
    }
}

impl HostPollable for WasiView<'_> {
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        self.call.count()?;
        HostPollable::ready(self.table, pollable).await
    }

    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        self.call.count()?;
        HostPollable::block(self.table, pollable).await
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        HostPollable::drop(self.table, pollable)
    }
}

impl streams::Host for WasiView<'_> {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        streams::Host::convert_stream_error(self.table, error)
    }
}

impl HostInputStream for WasiView<'_> {
    fn read(&mut self, stream: Input, len: u64) -> StreamResult<Vec<u8>> {
        self.counted()?;
        HostInputStream::read(self.table, stream, len)
    }

    async fn blocking_read(&mut self, stream: Input, len: u64) -> StreamResult<Vec<u8>> {
        self.counted()?;
        HostInputStream::blocking_read(self.table, stream, len).await
    }

    fn skip(&mut self, stream: Input, len: u64) -> StreamResult<u64> {
        self.counted()?;
        HostInputStream::skip(self.table, stream, len)
    }

    async fn blocking_skip(&mut self, stream: Input, len: u64) -> StreamResult<u64> {
        self.counted()?;
        HostInputStream::blocking_skip(self.table, stream, len).await
    }

    fn subscribe(&mut self, stream: Input) -> wasmtime::Result<Resource<DynPollable>> {
        self.call.count()?;
        HostInputStream::subscribe(self.table, stream)
    }

    async fn drop(&mut self, stream: Input) -> wasmtime::Result<()> {
        HostInputStream::drop(self.table, stream).await
    }
}

impl HostOutputStream for WasiView<'_> {
    fn check_write(&mut self, stream: Output) -> StreamResult<u64> {
        self.counted()?;
        HostOutputStream::check_write(self.table, stream)
    }

    fn write(&mut self, stream: Output, bytes: Vec<u8>) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::write(self.table, stream, bytes)
    }

    async fn blocking_write_and_flush(&mut self, stream: Output, bytes: Vec<u8>) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::blocking_write_and_flush(self.table, stream, bytes).await
    }

    fn flush(&mut self, stream: Output) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::flush(self.table, stream)
    }

    async fn blocking_flush(&mut self, stream: Output) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::blocking_flush(self.table, stream).await
    }

    fn subscribe(&mut self, stream: Output) -> wasmtime::Result<Resource<DynPollable>> {
        self.call.count()?;
        HostOutputStream::subscribe(self.table, stream)
    }

    fn write_zeroes(&mut self, stream: Output, len: u64) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::write_zeroes(self.table, stream, len)
    }

    async fn blocking_write_zeroes_and_flush(&mut self, stream: Output, len: u64) -> StreamResult<()> {
        self.counted()?;
        HostOutputStream::blocking_write_zeroes_and_flush(self.table, stream, len).await
    }

    fn splice(&mut self, stream: Output, source: Input, len: u64) -> StreamResult<u64> {
        self.counted()?;
        HostOutputStream::splice(self.table, stream, source, len)
    }

    async fn blocking_splice(&mut self, stream: Output, source: Input, len: u64) -> StreamResult<u64> {
        self.counted()?;
        HostOutputStream::blocking_splice(self.table, stream, source, len).await
    }

    async fn drop(&mut self, stream: Output) -> wasmtime::Result<()> {
        HostOutputStream::drop(self.table, stream).await
    }
}
