//! `wasi:filesystem`: no folder is open, so nobody can hold a descriptor, and every function that takes one is a trap.

use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use super::WasiView;
use crate::failure::Stop;

fn no_descriptor() -> wasmtime::Error {
    Stop::misuse("wasi:filesystem/types", "no such descriptor").into()
}

impl preopens::Host for WasiView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        self.call.count()?;
        Ok(Vec::new())
    }
}

impl types::Host for WasiView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.call.count()?;
        self.table.get(&error)?;
        Ok(None)
    }
}

macro_rules! without_descriptor {
    ($(async $asynchronous:ident($($argument:ty),*) -> $result:ty;)* $(sync $synchronous:ident($($parameter:ty),*) -> $output:ty;)*) => {
        $(async fn $asynchronous(&mut self, _: Resource<Descriptor>, $(_: $argument),*) -> FsResult<$result> {
            Err(FsError::trap(no_descriptor()))
        })*
        $(fn $synchronous(&mut self, _: Resource<Descriptor>, $(_: $parameter),*) -> FsResult<$output> {
            Err(FsError::trap(no_descriptor()))
        })*
    };
}

impl HostDescriptor for WasiView<'_> {
    without_descriptor! {
        async advise(Filesize, Filesize, Advice) -> ();
        async sync_data() -> ();
        async get_flags() -> DescriptorFlags;
        async get_type() -> DescriptorType;
        async set_size(Filesize) -> ();
        async set_times(NewTimestamp, NewTimestamp) -> ();
        async read(Filesize, Filesize) -> (Vec<u8>, bool);
        async write(Vec<u8>, Filesize) -> Filesize;
        async read_directory() -> Resource<DirectoryEntryStream>;
        async sync() -> ();
        async create_directory_at(String) -> ();
        async stat() -> DescriptorStat;
        async stat_at(PathFlags, String) -> DescriptorStat;
        async set_times_at(PathFlags, String, NewTimestamp, NewTimestamp) -> ();
        async link_at(PathFlags, String, Resource<Descriptor>, String) -> ();
        async open_at(PathFlags, String, OpenFlags, DescriptorFlags) -> Resource<Descriptor>;
        async readlink_at(String) -> String;
        async remove_directory_at(String) -> ();
        async rename_at(String, Resource<Descriptor>, String) -> ();
        async symlink_at(String, String) -> ();
        async unlink_file_at(String) -> ();
        async metadata_hash() -> MetadataHashValue;
        async metadata_hash_at(PathFlags, String) -> MetadataHashValue;
        sync read_via_stream(Filesize) -> Resource<DynInputStream>;
        sync write_via_stream(Filesize) -> Resource<DynOutputStream>;
        sync append_via_stream() -> Resource<DynOutputStream>;
    }

    async fn is_same_object(&mut self, _: Resource<Descriptor>, _: Resource<Descriptor>) -> wasmtime::Result<bool> {
        Err(no_descriptor())
    }

    fn drop(&mut self, _: Resource<Descriptor>) -> wasmtime::Result<()> {
        Err(no_descriptor())
    }
}

impl HostDirectoryEntryStream for WasiView<'_> {
    async fn read_directory_entry(&mut self, _: Resource<DirectoryEntryStream>) -> FsResult<Option<DirectoryEntry>> {
        Err(FsError::trap(no_descriptor()))
    }

    fn drop(&mut self, _: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        Err(no_descriptor())
    }
}
